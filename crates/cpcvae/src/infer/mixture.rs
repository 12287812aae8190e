//! Mixtures of normal distributions, fitted to codes that are distributions themselves.
//!
//! A row n has a weight `w_n` and is a normal distribution `q_n` with mean `m_n` and variances
//! `s_n^2`. The mixture `sum_k pi_k N(mu_k, S_k)` maximises `sum_n w_n log sum_k pi_k exp(E_{q_n}
//! log N(z; mu_k, S_k))`, a lower bound of the expected log-likelihood of codes drawn from the
//! rows, by the EM algorithm. With one component this is the normal distribution with the mean and
//! covariance of all such codes.

mod normal;
mod start;

use super::Codes;
use crate::probabilities::softmax;
use normal::Normal;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Numbers of components that are tried.
const COMPONENTS: [usize; 5] = [1, 2, 4, 8, 16];
/// The fewest rows for each component; at least as many as the code has dimensions.
const ROWS_A_COMPONENT: usize = 10;
/// One in this many rows is held out to choose the number of components.
const HELD_OUT: usize = 4;
/// The most EM steps, and the gain per row below which they stop.
const STEPS: usize = 60;
const GAIN: f64 = 1e-4;
/// Added to variances, so that a constant code dimension is not a problem.
const LEAST_VARIANCE: f64 = 1e-6;

/// A row and its weight.
pub(super) type Member = (usize, f64);

/// One normal distribution of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Component {
    /// Its share of the mixture.
    pub share: f64,
    /// `[code]`
    pub mean: Vec<f64>,
    /// L with L L' the covariance, `[code, code]`.
    pub lower: Vec<f64>,
}

/// The mixture with the number of components that is best on held-out rows; deterministic for a
/// seed. The covariance of a single normal distribution is shrunk towards `within [code, code]` if
/// rows are few. `None` if codes are not finite, or too large for a covariance.
pub(super) fn fit(
    codes: &Codes,
    members: &[Member],
    within: &[f64],
    seed: u64,
) -> Option<Vec<Component>> {
    let data = Data { codes, within };
    let rows: f64 = members.iter().map(|(_, weight)| weight).sum();
    let least = ROWS_A_COMPONENT.max(codes.mean.columns) as f64;
    let affordable = |count: &usize| *count == 1 || *count as f64 * least <= rows;
    let tried: Vec<usize> = COMPONENTS.into_iter().filter(affordable).collect();
    let count = match tried.len() {
        1 => 1,
        _ => data.best_count(&start::shuffled(members, seed), &tried, seed)?,
    };
    data.fit(members, count, seed)
}

/// The data that mixtures are fitted to.
struct Data<'a> {
    codes: &'a Codes,
    within: &'a [f64],
}

impl Data<'_> {
    /// The smallest number of components beyond which held-out rows gain no more than one standard
    /// error of the mean gain.
    fn best_count(&self, shuffled: &[Member], tried: &[usize], seed: u64) -> Option<usize> {
        let (held_out, kept) = shuffled.split_at(shuffled.len() / HELD_OUT);
        let scores = |count: &usize| {
            let mixture = Normals::new(&self.fit(kept, *count, seed)?)?;
            let score = |(row, _): &Member| mixture.score(self.codes, *row);
            Some(held_out.iter().map(score).collect::<Vec<f64>>())
        };
        let mut best = (1, scores(&1)?);
        for count in &tried[1..] {
            let scores = scores(count)?;
            let gains = scores.iter().zip(&best.1).map(|(new, old)| new - old);
            if is_beyond_chance(gains.zip(held_out.iter().map(|(_, weight)| *weight))) {
                best = (*count, scores);
            }
        }
        Some(best.0)
    }

    fn fit(&self, members: &[Member], count: usize, seed: u64) -> Option<Vec<Component>> {
        if count == 1 {
            let alone = members.iter().map(|_| vec![1.0]).collect::<Vec<_>>();
            return self.maximised(members, &alone, 1);
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let places = start::spread_out(self.codes, members, count, &mut random);
        let mut belongs = start::nearest(self.codes, members, &places);
        let mut mixture = self.maximised(members, &belongs, places.len())?;
        let mut before = f64::NEG_INFINITY;
        for _ in 0..STEPS {
            let normals = Normals::new(&mixture)?;
            let (mut sum, mut weights) = (0.0, 0.0);
            for ((row, weight), belongs) in members.iter().zip(&mut belongs) {
                *belongs = normals.terms(self.codes, *row);
                sum += weight * softmax(belongs);
                weights += weight;
            }
            let now = sum / weights;
            if !now.is_finite() || now - before < GAIN {
                break;
            }
            before = now;
            mixture = self.maximised(members, &belongs, mixture.len())?;
        }
        Some(mixture)
    }

    /// The M step for these responsibilities. Covariances are shrunk towards that within all
    /// components, which counts as many rows as the code has dimensions. Components with hardly any
    /// rows are removed.
    fn maximised(
        &self,
        members: &[Member],
        belongs: &[Vec<f64>],
        count: usize,
    ) -> Option<Vec<Component>> {
        let code = self.codes.mean.columns;
        let of_component = |component: usize| {
            let pairs = members.iter().zip(belongs);
            Moments::of(
                self.codes,
                pairs.map(|((row, weight), belongs)| (*row, weight * belongs[component])),
            )
        };
        let mut moments: Vec<Moments> = (0..count).map(of_component).collect();
        if count > 1 {
            moments.retain(|one| one.weight >= 1.0);
        }
        let all: f64 = moments.iter().map(|one| one.weight).sum();
        let within = match count {
            1 => self.within.to_vec(),
            _ => pooled(&moments, code),
        };
        let component = |one: &Moments| {
            let rows = one.weight + code as f64;
            let mut covariance = vec![0.0; code * code];
            add(&mut covariance, &one.scatter, 1.0 / rows);
            add(&mut covariance, &within, code as f64 / rows);
            (0..code).for_each(|i| covariance[i * code + i] += LEAST_VARIANCE);
            Some(Component {
                share: one.weight / all.max(1e-12),
                mean: one.mean.clone(),
                lower: crate::pseudo_label::cholesky::factor(covariance, code)?,
            })
        };
        moments.iter().map(component).collect()
    }
}

/// The components of a mixture, ready to score rows.
struct Normals(Vec<Normal>);

impl Normals {
    fn new(mixture: &[Component]) -> Option<Self> {
        let normals: Option<_> = mixture.iter().map(Normal::new).collect();
        normals.map(Self)
    }

    /// log pi_k + E_q log N_k for each component.
    fn terms(&self, codes: &Codes, row: usize) -> Vec<f64> {
        let (mean, sigma) = (codes.mean.row(row), codes.sigma.row(row));
        let term = |normal: &Normal| normal.expected_log_density(mean, sigma);
        self.0.iter().map(term).collect()
    }

    fn score(&self, codes: &Codes, row: usize) -> f64 {
        softmax(&mut self.terms(codes, row))
    }
}

/// Whether the mean of weighted gains exceeds its standard error.
fn is_beyond_chance(gains: impl Iterator<Item = (f64, f64)> + Clone) -> bool {
    let weight: f64 = gains.clone().map(|(_, weight)| weight).sum();
    let mean = gains.clone().map(|(gain, w)| w * gain).sum::<f64>() / weight;
    let squares = gains.map(|(gain, w)| (w * (gain - mean)).powi(2));
    mean > squares.sum::<f64>().sqrt() / weight
}

/// Weighted sums over rows.
pub(super) struct Moments {
    pub weight: f64,
    pub mean: Vec<f64>,
    /// Weighted sum over rows of the outer product of deviations from the mean plus the rows' own
    /// variances; the lower triangle of `[code, code]`.
    pub scatter: Vec<f64>,
}

impl Moments {
    /// Of rows with their weights.
    pub(super) fn of(codes: &Codes, members: impl Iterator<Item = Member> + Clone) -> Self {
        let code = codes.mean.columns;
        let members = members.filter(|(_, weight)| *weight > 1e-6);
        let weight: f64 = members.clone().map(|(_, weight)| weight).sum();
        let mut mean = vec![0.0; code];
        for (row, share) in members.clone() {
            let sums = mean.iter_mut().zip(codes.mean.row(row));
            sums.for_each(|(sum, value)| *sum += share / weight * f64::from(*value));
        }
        let mut scatter = vec![0.0; code * code];
        let mut off = vec![0.0; code];
        for (row, share) in members {
            let values = codes.mean.row(row).iter().zip(&mean);
            let offs = off.iter_mut().zip(values);
            offs.for_each(|(off, (value, mean))| *off = f64::from(*value) - mean);
            for i in 0..code {
                let line = &mut scatter[i * code..=i * code + i];
                let scaled = share * off[i];
                line.iter_mut()
                    .zip(&off)
                    .for_each(|(s, o)| *s += scaled * o);
                scatter[i * code + i] += share * f64::from(codes.sigma.row(row)[i]).powi(2);
            }
        }
        Self {
            weight,
            mean,
            scatter,
        }
    }
}

/// The covariance within groups of rows, `[code, code]`.
pub(super) fn pooled(groups: &[Moments], code: usize) -> Vec<f64> {
    let all: f64 = groups.iter().map(|one| one.weight).sum();
    let mut within = vec![0.0; code * code];
    for one in groups {
        add(&mut within, &one.scatter, 1.0 / all.max(1.0));
    }
    within
}

fn add(sum: &mut [f64], more: &[f64], times: f64) {
    sum.iter_mut().zip(more).for_each(|(s, m)| *s += times * m);
}

#[cfg(test)]
mod tests;
