//! An Optuna journal: a file of JSON lines, each an operation. All studies and trials are
//! reconstructed by reading the lines in order.

mod file;
mod lock;
mod replay;

pub(crate) use file::JournalFile;
pub use lock::GRACE;
pub(crate) use replay::Replay;

/// The operation of a line. The numbers are Optuna's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    CreateStudy = 0,
    DeleteStudy = 1,
    SetStudyUserAttr = 2,
    SetStudySystemAttr = 3,
    CreateTrial = 4,
    SetTrialParam = 5,
    SetTrialStateValues = 6,
    SetTrialIntermediateValue = 7,
    SetTrialUserAttr = 8,
    SetTrialSystemAttr = 9,
    DiscardTrials = 10,
}

impl Operation {
    fn from_number(number: u64) -> Option<Self> {
        use Operation::*;
        let all = [
            CreateStudy,
            DeleteStudy,
            SetStudyUserAttr,
            SetStudySystemAttr,
            CreateTrial,
            SetTrialParam,
            SetTrialStateValues,
            SetTrialIntermediateValue,
            SetTrialUserAttr,
            SetTrialSystemAttr,
            DiscardTrials,
        ];
        all.into_iter().find(|one| *one as u64 == number)
    }
}
