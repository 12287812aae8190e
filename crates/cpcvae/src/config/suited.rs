//! Settings that suit the data where nothing is said.

use super::RunConfig;
use crate::method::Method;
use cpcvae_data::{Dataset, Layout};

/// From this many columns on a table needs a larger network.
const MANY_COLUMNS: usize = 12;
/// With fewer rows than this for each column, likelihoods would learn the rows by heart.
const ROWS_A_COLUMN: usize = 10;

impl RunConfig {
    /// These settings, which are defaults, for this table: code and network grow with its
    /// columns, and so do the weights of what is said about labels, to be heard beside evidence
    /// that grows too. The rule is in `docs/columns.md`. Images keep their settings.
    pub fn suited_to(mut self, data: &Dataset) -> Self {
        let Layout::Columns(columns) = &data.layout else {
            return self;
        };
        let (rows, columns) = (data.len(), columns.len());
        self.model.code = columns.div_ceil(2).clamp(2, 20);
        if columns >= MANY_COLUMNS {
            let larger = |layers: &mut Vec<usize>| layers.iter_mut().for_each(|units| *units = 300);
            larger(&mut self.model.hidden);
            larger(&mut self.model.predictor);
            self.train.learning_rate = 1e-3;
        }
        if rows < ROWS_A_COLUMN * columns {
            self.model.scale_floor = 0.3;
        }
        // Half-moon, two columns, is where the weights were found.
        let growth = (columns.max(2) as f64 / 2.0).powf(0.25);
        let grown = |weight: f64| (weight * growth * 10.0).round() / 10.0;
        match &mut self.method {
            Method::Pc(pc) => pc.prediction_weight = grown(pc.prediction_weight),
            Method::Cpc(cpc) => {
                cpc.prediction_weight = grown(cpc.prediction_weight);
                cpc.neighbour_weight = grown(cpc.neighbour_weight);
            }
            _ => {}
        }
        self
    }
}
