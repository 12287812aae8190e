//! Named, weighted terms. The same names are used in logs, tables and on screen.

use burn::tensor::Tensor;

/// One term of a batch: `weight * value` is added to the loss.
#[derive(Clone, Debug)]
pub struct TermValue {
    /// Its name in metrics and messages.
    pub name: &'static str,
    /// Its weight now (ramps and multipliers included).
    pub weight: f64,
    /// Its value, `[1]`.
    pub value: Tensor<1>,
}

/// The terms of an objective.
#[derive(Clone, Debug, Default)]
pub struct Terms(Vec<TermValue>);

impl Terms {
    /// Adds a term.
    pub fn push(&mut self, name: &'static str, weight: f64, value: Tensor<1>) {
        self.0.push(TermValue {
            name,
            weight,
            value,
        });
    }

    /// The same terms with other values, `[1]` each, in their order.
    pub(crate) fn with_values(mut self, values: impl IntoIterator<Item = Tensor<1>>) -> Self {
        for (term, value) in self.0.iter_mut().zip(values) {
            term.value = value;
        }
        self
    }

    /// The loss: the weighted sum, `[1]`. `None` when no term has a weight.
    pub fn loss(&self) -> Option<Tensor<1>> {
        self.0
            .iter()
            .filter(|term| term.weight != 0.0)
            .map(|term| term.value.clone().mul_scalar(term.weight))
            .reduce(|sum, term| sum + term)
    }

    /// Names and values, read back from the device.
    pub fn values(&self) -> Vec<(&'static str, f32)> {
        self.0
            .iter()
            .map(|term| (term.name, term.value.clone().into_scalar::<f32>()))
            .collect()
    }

    /// The term of that name.
    pub fn get(&self, name: &str) -> Option<&TermValue> {
        self.0.iter().find(|term| term.name == name)
    }

    /// All terms in order.
    pub fn iter(&self) -> impl Iterator<Item = &TermValue> {
        self.0.iter()
    }
}
