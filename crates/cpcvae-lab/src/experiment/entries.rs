//! Numbers of a table from records: candidates selected, draws aggregated.

use super::{CellKey, Metric, Plan, Record};
use serde::Serialize;

/// A row of the table: one method with one set of values, over its draws.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Identifies its first cell: method, setting, labels, code.
    pub key: CellKey,
    /// The candidate selected on validation rows; empty if there was no selection.
    pub chosen: String,
    /// Its records, draw by draw.
    pub records: Vec<&'a Record>,
}

/// One number of the table, over the draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The method's label.
    pub method: String,
    /// The variant's name.
    pub setting: String,
    /// The label count.
    pub labels: usize,
    /// The code size.
    pub code: usize,
    /// The metric.
    pub metric: Metric,
    /// The unit of all numbers here.
    pub unit: &'static str,
    /// Draws that were measured.
    pub draws: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (with n - 1); `None` for a single draw.
    pub std: Option<f64>,
    /// The smallest.
    pub min: f64,
    /// The paper's value.
    pub paper: Option<f64>,
    /// Its standard deviation.
    pub paper_std: Option<f64>,
    /// The candidate selected on validation rows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub chosen: String,
}

/// Groups cells and their records to rows, in the order of the cells.
pub fn rows<'a>(cells: &[(CellKey, Option<&'a Record>)]) -> Vec<Row<'a>> {
    let mut groups: Vec<Vec<&(CellKey, Option<&'a Record>)>> = Vec::new();
    for cell in cells {
        match groups
            .iter_mut()
            .find(|group| same_row(&group[0].0, &cell.0))
        {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups.iter().map(|group| row(group)).collect()
}

fn same_row(a: &CellKey, b: &CellKey) -> bool {
    (&a.method, &a.setting, a.labels, a.code) == (&b.method, &b.setting, b.labels, b.code)
}

/// One row from its cells: those of the best candidate, if there are several.
fn row<'a>(group: &[&(CellKey, Option<&'a Record>)]) -> Row<'a> {
    let mut candidates: Vec<&str> = Vec::new();
    for (key, _) in group {
        if !candidates.contains(&key.candidate.as_str()) {
            candidates.push(&key.candidate);
        }
    }
    let of = |candidate: &str| -> Vec<&'a Record> {
        let own = group.iter().filter(|(key, _)| key.candidate == candidate);
        own.filter_map(|(_, record)| *record).collect()
    };
    // Only draws that all candidates have give a fair comparison.
    let everywhere = |draw: u64| {
        let has = |candidate: &&str| of(candidate).iter().any(|record| record.key.draw == draw);
        candidates.iter().all(has)
    };
    let fair = |candidate: &str| -> Vec<&'a Record> {
        let own = of(candidate).into_iter();
        own.filter(|record| everywhere(record.key.draw)).collect()
    };
    let quality = |candidate: &str| {
        let own = fair(candidate);
        let known: Vec<f64> = own.iter().filter_map(|one| one.metrics.quality()).collect();
        mean(&known).unwrap_or(f64::NEG_INFINITY)
    };
    let best =
        candidates
            .iter()
            .copied()
            .reduce(|best, other| match quality(other) > quality(best) {
                true => other,
                false => best,
            });
    let best = best.unwrap_or_default();
    Row {
        key: group[0].0.clone(),
        chosen: best.into(),
        records: fair(best),
    }
}

/// The numbers of the table; a row without records has none.
pub fn entries(plan: &Plan, rows: &[Row<'_>]) -> Vec<Entry> {
    rows.iter()
        .flat_map(|row| {
            let metrics = plan.report.metrics.iter();
            metrics.filter_map(|metric| entry(plan, row, *metric))
        })
        .collect()
}

fn entry(plan: &Plan, row: &Row<'_>, metric: Metric) -> Option<Entry> {
    let values = row.values(metric);
    let mean = mean(&values)?;
    let key = &row.key;
    let paper = plan.paper.iter().find_map(|paper| {
        let applies = paper.metric.unwrap_or(plan.report.metrics[0]) == metric
            && paper
                .setting
                .as_ref()
                .is_none_or(|name| *name == key.setting)
            && paper.labels.is_none_or(|labels| labels == key.labels)
            && paper.code.is_none_or(|code| code == key.code);
        paper.values.get(&key.method).filter(|_| applies).copied()
    });
    Some(Entry {
        method: key.method.clone(),
        setting: key.setting.clone(),
        labels: key.labels,
        code: key.code,
        metric,
        unit: metric.unit(),
        draws: values.len(),
        mean,
        std: std(&values),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        paper: paper.map(|paper| paper.mean()),
        paper_std: paper.and_then(|paper| paper.std()),
        chosen: row.chosen.clone(),
    })
}

impl Row<'_> {
    /// The values of a metric for each draw, in its unit.
    pub fn values(&self, metric: Metric) -> Vec<f64> {
        let records = self.records.iter();
        records
            .filter_map(|record| record.metrics.get(metric))
            .collect()
    }

    /// Mean and, from two draws on, standard deviation of a metric.
    pub(crate) fn mean_and_std(&self, metric: Metric) -> Option<(f64, Option<f64>)> {
        let values = self.values(metric);
        Some((mean(&values)?, std(&values)))
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    match values {
        [] => None,
        values => Some(values.iter().sum::<f64>() / values.len() as f64),
    }
}

/// With n - 1: the draws are a sample.
fn std(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    match values.len() {
        0 | 1 => None,
        count => Some((squares / (count - 1) as f64).sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::{cells, tests::plan};
    use super::super::results::tests::record;
    use super::*;

    #[test]
    fn draws_are_put_together_beside_the_papers_value() {
        let plan = plan();
        let cells = cells(&plan);
        let records: Vec<Record> = [0, 7]
            .iter()
            .map(|index| record(&cells[*index].key, "0", 0.8 + 0.01 * *index as f64))
            .collect();
        let found: Vec<(CellKey, Option<&Record>)> = cells
            .iter()
            .map(|cell| {
                let record = records.iter().find(|record| record.key == cell.key);
                (cell.key.clone(), record)
            })
            .collect();
        let rows = rows(&found);
        assert_eq!(rows.len(), 5);
        let entries = entries(&plan, &rows);
        assert_eq!(entries.len(), 1, "rows without records have no numbers");
        let entry = &entries[0];
        assert_eq!((entry.draws, entry.paper), (2, Some(78.1)));
        assert!((entry.mean - 83.5).abs() < 1e-9 && (entry.min - 80.0).abs() < 1e-9);
        // |87 - 80| / sqrt(2)
        assert!((entry.std.expect("two draws") - 4.949_747_468).abs() < 1e-6);
    }

    #[test]
    fn candidates_are_chosen_on_validation_rows_of_common_draws() {
        let cells = cells(&plan());
        let measured = |index: usize, validation: f64, test: f64| {
            let mut record = record(&cells[index].key, "0", test);
            record.metrics.validation_accuracy = Some(validation);
            record
        };
        // The first has the better test accuracy, the second the better validation accuracy.
        let (first, second) = (measured(3, 0.7, 0.9), measured(4, 0.8, 0.6));
        let key = |index: usize| cells[index].key.clone();
        let both = [(key(3), Some(&first)), (key(4), Some(&second))];
        let chosen = rows(&both);
        assert_eq!(chosen.len(), 1);
        assert_eq!(chosen[0].chosen, "beta 2.5");
        assert_eq!(chosen[0].values(Metric::Accuracy), [60.0]);
        let half = [(key(3), Some(&first)), (key(4), None)];
        assert!(
            rows(&half)[0].records.is_empty(),
            "nothing to choose from yet"
        );
    }
}
