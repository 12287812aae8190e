//! Which rows make up each training step, and the batches gathered from them.

use crate::random::{RandomPurpose, generator};
use crate::shift::shift_images;
use crate::stretch::stretch_images;
use crate::{DataError, Dataset, Result};
use rand::seq::SliceRandom;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A limit above any useful batch size, so that a mistyped number cannot exhaust the memory.
const MOST_ROWS_A_BATCH: usize = 1 << 20;

/// The rows of every training step, as a pure function of the seed and the step.
///
/// Labelled and unlabelled rows are two endless streams. Each goes through its
/// rows in passes, and every pass is a new permutation keyed by the seed and
/// the pass's number. Batches are always full, so a batch may end one pass and
/// begin the next; the smaller stream simply makes more passes. A run resumed
/// at any step therefore sees the rows it would have seen.
#[derive(Debug)]
pub struct BatchPlan {
    labelled: Stream,
    unlabelled: Stream,
    seed: u64,
    /// Images are shifted by at most this many pixels.
    shift: usize,
    /// Each entry of the random matrix that images are transformed by differs from the identity's
    /// by at most this.
    stretch: f32,
    /// Into how many shards a batch is dealt,
    shards: usize,
    /// and which of them are gathered here.
    own_shards: Range<usize>,
}

/// The row numbers of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepRows {
    /// Rows whose labels are used.
    pub labelled: Vec<u32>,
    /// Rows used without label.
    pub unlabelled: Vec<u32>,
}

impl StepRows {
    /// How many rows these are.
    fn len(&self) -> usize {
        self.labelled.len() + self.unlabelled.len()
    }

    /// The rows of one of `count` shards, which differ by one row of either kind at most.
    fn shard(&self, shard: usize, count: usize) -> StepRows {
        let part = |rows: &[u32]| {
            let bound = |shard: usize| shard * rows.len() / count;
            rows[bound(shard)..bound(shard + 1)].to_vec()
        };
        StepRows {
            labelled: part(&self.labelled),
            unlabelled: part(&self.unlabelled),
        }
    }
}

impl BatchPlan {
    /// A plan over the two lists of rows. A stream with 0 rows a batch is not
    /// used, and may then be empty.
    pub fn new(
        labelled: Vec<u32>,
        unlabelled: Vec<u32>,
        labelled_per_batch: usize,
        unlabelled_per_batch: usize,
        seed: u64,
    ) -> Result<BatchPlan> {
        if labelled_per_batch == 0 && unlabelled_per_batch == 0 {
            return Err(DataError::Batch("a batch needs at least one row".into()));
        }
        let stream = |rows: Vec<u32>, per_batch, purpose, kind| {
            if per_batch > MOST_ROWS_A_BATCH {
                return Err(DataError::Batch(format!(
                    "{per_batch} {kind} rows a batch are too many; the most is {MOST_ROWS_A_BATCH}"
                )));
            }
            if rows.is_empty() && per_batch > 0 {
                return Err(DataError::Batch(format!(
                    "{per_batch} {kind} rows a batch were asked for, but there are no {kind} rows"
                )));
            }
            Ok(Stream {
                rows,
                per_batch,
                seed,
                purpose,
                pass: Mutex::new(None),
            })
        };
        Ok(BatchPlan {
            seed,
            shift: 0,
            stretch: 0.0,
            shards: 1,
            own_shards: 0..1,
            labelled: stream(
                labelled,
                labelled_per_batch,
                RandomPurpose::LabelledBatches,
                "labelled",
            )?,
            unlabelled: stream(
                unlabelled,
                unlabelled_per_batch,
                RandomPurpose::UnlabelledBatches,
                "unlabelled",
            )?,
        })
    }

    /// The same plan with images (one channel after the other) shifted by up to `pixels` in each
    /// direction, drawn anew at each step.
    pub fn with_shift(mut self, pixels: usize) -> BatchPlan {
        self.shift = pixels;
        self
    }

    /// The same plan with images rotated, sheared and scaled by a random matrix, drawn anew at each
    /// step, whose entries differ from those of the identity by at most `most`.
    pub fn with_stretch(mut self, most: f32) -> BatchPlan {
        self.stretch = most;
        self
    }

    /// The same plan with every batch dealt into `count` shards, of which those of `own` are
    /// gathered, one after the other. Each has its share of the labelled rows and of the others, and
    /// a stream of random numbers of its own.
    pub fn with_shards(mut self, count: usize, own: Range<usize>) -> BatchPlan {
        (self.shards, self.own_shards) = (count, own);
        self
    }

    /// The shards that are gathered.
    pub(crate) fn own_shards(&self) -> Range<usize> {
        self.own_shards.clone()
    }

    /// A shard of a step's batch; the rows must have been checked before.
    pub(crate) fn batch(&self, data: &Dataset, step: u64, shard: usize) -> Batch {
        let all = self.rows_of_step(step);
        let rows = all.shard(shard, self.shards);
        let share = rows.len() as f32 / all.len() as f32;
        let mut batch = Batch {
            shard,
            share,
            ..Batch::gather_checked(data, step, rows)
        };
        // The first shard has the numbers of a batch in one piece. Steps stay below 2^56.
        let stream = |purpose| generator(self.seed, purpose, step + ((shard as u64) << 56));
        if self.shift > 0 {
            let mut random = stream(RandomPurpose::Shift);
            shift_images(&mut batch.features, &data.layout, self.shift, &mut random);
        }
        if self.stretch > 0.0 {
            let mut random = stream(RandomPurpose::Stretch);
            stretch_images(&mut batch.features, &data.layout, self.stretch, &mut random);
        }
        batch
    }

    /// Steps in which the stream that takes longer shows each of its rows once.
    pub fn steps_per_epoch(&self) -> u64 {
        self.labelled
            .steps_per_pass()
            .max(self.unlabelled.steps_per_pass())
    }

    /// The rows of a step, counted from 0. Fast for consecutive steps, correct for any.
    pub fn rows_of_step(&self, step: u64) -> StepRows {
        StepRows {
            labelled: self.labelled.rows_of_step(step),
            unlabelled: self.unlabelled.rows_of_step(step),
        }
    }

    /// Fails unless `data` has every row of the plan, with a label where one is used.
    pub fn check(&self, data: &Dataset) -> Result<()> {
        check_rows(data, &self.labelled.rows, &self.unlabelled.rows)
    }
}

#[derive(Debug)]
struct Stream {
    rows: Vec<u32>,
    per_batch: usize,
    seed: u64,
    purpose: RandomPurpose,
    /// The current permutation with the number of its pass, cached to save time.
    pass: Mutex<Option<(u64, Vec<u32>)>>,
}

impl Stream {
    fn steps_per_pass(&self) -> u64 {
        match self.per_batch {
            0 => 0,
            per_batch => self.rows.len().div_ceil(per_batch) as u64,
        }
    }

    fn rows_of_step(&self, step: u64) -> Vec<u32> {
        if self.per_batch == 0 {
            return Vec::new();
        }
        let length = self.rows.len() as u128;
        let start = u128::from(step) * self.per_batch as u128;
        let mut pass = (start / length) as u64;
        let mut offset = (start % length) as usize;
        let mut chosen = Vec::with_capacity(self.per_batch);
        // A poisoned lock is harmless: the cache is always complete or absent.
        let mut cached = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        while chosen.len() < self.per_batch {
            let (_, order) = match cached.take() {
                Some(current) if current.0 == pass => cached.insert(current),
                _ => cached.insert((pass, self.permutation(pass))),
            };
            let end = order.len().min(offset + self.per_batch - chosen.len());
            chosen.extend_from_slice(&order[offset..end]);
            offset = 0;
            pass = pass.wrapping_add(1);
        }
        chosen
    }

    fn permutation(&self, pass: u64) -> Vec<u32> {
        let mut order = self.rows.clone();
        order.shuffle(&mut generator(self.seed, self.purpose, pass));
        order
    }
}

/// What one training step reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The step, counted from 0.
    pub step: u64,
    /// Which rows these are.
    pub rows: StepRows,
    /// The features, row after row: the labelled rows, then the unlabelled ones.
    pub features: Vec<f32>,
    /// The classes of the labelled rows; empty when the labels are not classes.
    pub classes: Vec<u32>,
    /// The continuous labels of the labelled rows, row after row; empty when
    /// the labels are classes.
    pub values: Vec<f32>,
    /// Number of labelled rows.
    pub labelled: usize,
    /// Number of unlabelled rows.
    pub unlabelled: usize,
    /// Which shard of the step's batch it is: 0 where that is in one piece.
    pub shard: usize,
    /// Its share of the rows of the step.
    pub share: f32,
}

impl Batch {
    /// Copies the rows of a step out of the data.
    pub fn gather(data: &Dataset, step: u64, rows: StepRows) -> Result<Batch> {
        check_rows(data, &rows.labelled, &rows.unlabelled)?;
        Ok(Batch::gather_checked(data, step, rows))
    }

    /// Like [`Batch::gather`], for rows that were checked already.
    pub(crate) fn gather_checked(data: &Dataset, step: u64, rows: StepRows) -> Batch {
        let (labelled, unlabelled) = (rows.labelled.len(), rows.unlabelled.len());
        let all = [rows.labelled.as_slice(), &rows.unlabelled].concat();
        let of_rows = rows.labelled.iter();
        Batch {
            step,
            features: data.features.gather(&all).values,
            classes: of_rows
                .clone()
                .filter_map(|&row| data.labels.class_of(row))
                .collect(),
            values: of_rows
                .filter_map(|&row| data.labels.values_of(row))
                .flatten()
                .copied()
                .collect(),
            labelled,
            unlabelled,
            rows,
            shard: 0,
            share: 1.0,
        }
    }
}

fn check_rows(data: &Dataset, labelled: &[u32], unlabelled: &[u32]) -> Result<()> {
    if let Some(row) = labelled
        .iter()
        .chain(unlabelled)
        .find(|&&row| row as usize >= data.len())
    {
        return Err(DataError::Batch(format!(
            "row {row} is planned, but `{}` has only {} rows",
            data.name,
            data.len()
        )));
    }
    match labelled.iter().find(|&&row| !data.labels.is_known(row)) {
        None => Ok(()),
        Some(row) => Err(DataError::Batch(format!(
            "row {row} of `{}` is planned as labelled, but has no label",
            data.name
        ))),
    }
}
