//! The small version of an experiment.

use super::plan::Plan;
use super::{ExperimentError, Result};

impl Plan {
    /// The small version that `[quick]` describes.
    pub(crate) fn quickened(mut self, file: &str) -> Result<Self> {
        let Some(quick) = self.quick.clone() else {
            return Err(ExperimentError::Plan {
                file: file.into(),
                problem: "there is no `[quick]` part; say there what a small version is, for \
                          example `draws = 1` and `set.train.steps = 20`"
                    .into(),
            });
        };
        let only = &quick.only;
        self.methods.retain(|method| only.has_method(&method.label));
        self.settings
            .retain(|setting| only.has_setting(&setting.name));
        self.labels.retain(|labels| only.has_labels(*labels));
        self.code.retain(|code| only.has_code(*code));
        let own_labels = self.settings.iter_mut().map(|setting| &mut setting.labels);
        let own_labels = own_labels.chain(self.methods.iter_mut().map(|method| &mut method.labels));
        for labels in own_labels.flatten() {
            labels.retain(|labels| only.has_labels(*labels));
        }
        let own_code = self.settings.iter_mut().map(|setting| &mut setting.code);
        let own_code = own_code.chain(self.methods.iter_mut().map(|method| &mut method.code));
        for code in own_code.flatten() {
            code.retain(|code| only.has_code(*code));
        }
        self.grid.extend(quick.grid);
        self.last = quick.set;
        self.title += " (small version)";
        Ok(match quick.draws {
            Some(draws) => self.with_draws(draws),
            None => self,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::{cells, tests::plan};

    #[test]
    fn a_small_version_has_fewer_cells_and_other_settings() {
        let cells = cells(&plan().quickened("tiny.toml").expect("has a quick part"));
        let names: Vec<String> = cells.iter().map(|cell| cell.key.to_string()).collect();
        assert_eq!(names, ["PC, even, 6 labels, code 2, draw 0"]);
        let last = cells[0].layers.last().expect("quick comes last");
        assert_eq!(last.settings["train"]["steps"].as_integer(), Some(5));
    }
}
