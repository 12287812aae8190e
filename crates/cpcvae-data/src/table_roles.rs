//! Which columns of a table are labels, which one names the rows, and which are features.

use crate::{DataError, KindName, RawColumn, RawTable, Result, TableOptions};

/// Above this many columns, an error names only those with the most similar names.
const MOST_COLUMNS_LISTED: usize = 20;

/// The columns of a table by their roles.
pub(crate) struct Roles<'a> {
    pub(crate) labels: Vec<&'a RawColumn>,
    pub(crate) id: Option<&'a RawColumn>,
    pub(crate) features: Vec<&'a RawColumn>,
}

impl<'a> Roles<'a> {
    pub(crate) fn new(raw: &'a RawTable, options: &TableOptions) -> Result<Roles<'a>> {
        let find = Find { raw };
        let labels = find.columns(&options.labels, "label")?;
        let id = find.columns(options.id.as_slice(), "id")?.pop();
        let features = match &options.features {
            Some(known) => {
                let names: Vec<String> = known.iter().map(|column| column.name.clone()).collect();
                find.columns(&names, "feature")?
            }
            None => {
                let mut ignored = find.columns(&options.ignore, "ignored")?;
                let (left_out, declared): (Vec<_>, Vec<_>) = options
                    .kinds
                    .iter()
                    .partition(|(_, kind)| *kind == KindName::Ignore);
                let names = |list: Vec<&(String, KindName)>| -> Vec<String> {
                    list.iter().map(|(name, _)| name.clone()).collect()
                };
                ignored.extend(find.columns(&names(left_out), "ignored")?);
                let declared = find.columns(&names(declared), "declared")?;
                let is = |list: &[&RawColumn], column: &RawColumn| {
                    list.iter().any(|other| other.name == column.name)
                };
                let asked_for = raw.beside.iter().filter(|column| is(&declared, column));
                raw.columns
                    .iter()
                    .filter(|column| {
                        !is(&labels, column) && id.is_none_or(|id| id.name != column.name)
                    })
                    .chain(asked_for)
                    .filter(|column| !is(&ignored, column))
                    .collect()
            }
        };
        let roles = Roles {
            labels,
            id,
            features,
        };
        roles.check(&find)?;
        Ok(roles)
    }

    fn check(&self, find: &Find) -> Result<()> {
        if self.features.is_empty() {
            return Err(find.wrong("no column is left for the features".into()));
        }
        for feature in &self.features {
            let role = if self.labels.iter().any(|label| label.name == feature.name) {
                "label"
            } else if self.id.is_some_and(|id| id.name == feature.name) {
                "id"
            } else {
                continue;
            };
            return Err(find.wrong(format!(
                "column `{}` cannot be a feature and the {role}",
                feature.name
            )));
        }
        // Most often an index that was written too; learning from it would mislead.
        let unnamed = self.features.iter().any(|column| column.name.is_empty());
        match find.raw.columns.iter().position(|c| c.name.is_empty()) {
            Some(place) if unnamed => Err(find.wrong(format!(
                "column {} has no name (pandas writes its row index so; `index=False` leaves it \
                 out); name it, or ignore the column named \"\"",
                place + 1
            ))),
            _ => Ok(()),
        }
    }
}

impl RawTable {
    /// The columns of these names, in either list; `role` is for messages.
    pub fn named(&self, names: &[String], role: &str) -> Result<Vec<&RawColumn>> {
        Find { raw: self }.columns(names, role)
    }
}

struct Find<'a> {
    raw: &'a RawTable,
}

impl<'a> Find<'a> {
    fn all(&self) -> impl Iterator<Item = &'a RawColumn> {
        self.raw.columns.iter().chain(&self.raw.beside)
    }

    /// The named columns; all missing names are reported together.
    fn columns(&self, names: &[String], role: &str) -> Result<Vec<&'a RawColumn>> {
        let found = |name: &String| self.all().find(|column| column.name == *name);
        let missing: Vec<&String> = names.iter().filter(|name| found(name).is_none()).collect();
        if missing.is_empty() {
            return Ok(names.iter().filter_map(found).collect());
        }
        let there = self.names_near(missing[0], names);
        let missing: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        Err(self.wrong(format!(
            "there is no {role} column {}; {there}",
            missing.join(", ")
        )))
    }

    /// All columns where they are few, otherwise those whose names are closest to `name` and not in
    /// `wanted`.
    fn names_near(&self, name: &str, wanted: &[String]) -> String {
        let count = self.all().count();
        if count <= MOST_COLUMNS_LISTED {
            let names: Vec<&str> = self.all().map(|column| column.name.as_str()).collect();
            return format!("the columns are: {}", names.join(", "));
        }
        let likeness = |column: &str| strsim::jaro_winkler(name, column);
        let mut nearest: Vec<&str> = self
            .all()
            .map(|column| column.name.as_str())
            .filter(|column| !wanted.iter().any(|name| name == column))
            .collect();
        nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        nearest.truncate(5);
        format!(
            "the nearest of its {count} columns are: {}",
            nearest.join(", ")
        )
    }

    fn wrong(&self, problem: String) -> DataError {
        DataError::Table {
            path: self.raw.path.clone(),
            place: "header".into(),
            problem,
        }
    }
}
