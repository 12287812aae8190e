//! Batches in shards: a fixed number of gradients that are summed in a fixed order, so that it does
//! not matter how many processes compute them.
//!
//! Every shard is a small batch: it has its share of the labelled rows and of the others, its own
//! noise, its own statistics of batch normalisation, and its own means. The step is the mean over
//! shards, each weighed by its rows.

use super::TrainPlan;
use super::communicator::{self, Communicator};
use super::fit::Training;
use super::parameters::ModulePath;
use super::plan::Place;
use super::step::BatchTerms;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::op::{Compute, is_cpu};
use burn::backend::Flex;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor, TensorData};
use cpcvae_data::Prefetch;
use std::collections::BTreeSet;
use std::ops::Range;

/// Which shards of a batch this rank computes.
#[derive(Clone, Debug)]
pub(super) struct Shards {
    pub(super) count: usize,
    pub(super) own: Range<usize>,
}

impl Shards {
    /// Each rank has as many, neighbours beside each other.
    pub(super) fn of(plan: &TrainPlan, ranks: &dyn Communicator) -> Result<Self> {
        let (count, size) = (plan.shards, ranks.size());
        if !size.is_power_of_two() || size > count {
            let problem = format!(
                "is {count}, and there are {size} processes; as many as 1, 2, 4 and so on up to the \
                 number of shards can train together"
            );
            return Err(Error::setting("train.shards", problem));
        }
        let each = count / size;
        Ok(Self {
            count,
            own: ranks.rank() * each..(ranks.rank() + 1) * each,
        })
    }
}

/// Fails where so many ranks cannot train by the plan.
pub(crate) fn check_ranks(plan: &TrainPlan, ranks: &dyn Communicator) -> Result<()> {
    Shards::of(plan, ranks).map(|_| ())
}

/// The sum of vectors that come one by one, in the order of a binary tree: neighbours first, then
/// pairs, then fours.
#[derive(Debug, Default)]
pub(super) struct TreeSum {
    /// Sums of 2^level vectors each, the level falling.
    sums: Vec<(u32, Vec<f32>)>,
    /// Memory for later.
    spare: Vec<Vec<f32>>,
}

impl TreeSum {
    /// An empty vector.
    fn memory(&mut self) -> Vec<f32> {
        let mut values = self.spare.pop().unwrap_or_default();
        values.clear();
        values
    }

    fn add(&mut self, mut values: Vec<f32>) {
        let mut level = 0;
        while let Some((_, earlier)) = self.sums.pop_if(|(other, _)| *other == level) {
            let later = std::mem::replace(&mut values, earlier);
            for (value, other) in values.iter_mut().zip(&later) {
                *value += other;
            }
            self.spare.push(later);
            level += 1;
        }
        self.sums.push((level, values));
    }

    /// The sum of a number of vectors that is a power of two.
    fn whole(&mut self) -> Vec<f32> {
        let (_, sum) = self.sums.pop().unwrap_or_default();
        sum
    }
}

impl Training<'_> {
    /// Terms and gradient of a batch as means over its shards, those of other ranks among them.
    /// Running averages are renewed.
    pub(super) fn mean_of_shards(
        &mut self,
        stream: &mut Prefetch,
        place: &Place,
    ) -> Result<BatchTerms> {
        let mut last = None;
        for _ in self.shards.own.clone() {
            let mut shard = self.batch(stream, place)?;
            // Running averages follow the shard here, and their mean over all shards below.
            let mut followed = self.model.clone();
            followed.update_running_statistics();
            let mut flat = Flatten {
                path: ModulePath::default(),
                gradients: shard.learnt.as_mut().map(|(_, gradients)| gradients),
                share: shard.share,
                buffer_share: 1.0 / self.shards.count as f32,
                names: BTreeSet::new(),
                values: self.sum.memory(),
                compute: &self.compute,
            };
            followed.visit(&mut flat);
            let (names, mut values) = (flat.names, flat.values);
            let terms = shard.terms.values();
            values.extend(terms.iter().map(|(_, value)| shard.share * value));
            values.push(f32::from(u8::from(self.wants_stop)));
            self.sum.add(values);
            last = Some((shard, names));
        }
        let Some((BatchTerms { terms, learnt, .. }, names)) = last else {
            return Err(Error::Mismatch("this rank has no shard of a batch".into()));
        };
        let mut values = self.sum.whole();
        let mut received = self.sum.memory();
        communicator::sum(self.ranks, &mut values, &mut received)?;
        self.sum.spare.push(received);

        self.wants_stop = values.pop() > Some(0.0);
        let means = values.split_off(values.len() - terms.iter().count());
        let tensor = |mean: f32| Tensor::from_floats([mean], &self.device);
        let terms = terms.with_values(means.into_iter().map(tensor));
        let loss = terms.loss().map(|loss| loss.into_scalar::<f32>());
        let mut learnt = loss.zip(learnt.map(|(_, gradients)| gradients));
        let model = std::mem::replace(&mut self.model, Model::placeholder());
        self.model = model.map(&mut Spread {
            path: ModulePath::default(),
            gradients: learnt.as_mut().map(|(_, gradients)| gradients),
            names: &names,
            values: &values,
            compute: &self.compute,
        });
        self.sum.spare.push(values);
        Ok(BatchTerms {
            terms,
            learnt,
            share: 1.0,
        })
    }
}

/// Puts the gradients of a model, weighed, and what is kept beside its parameters (running averages)
/// one after the other.
struct Flatten<'a> {
    path: ModulePath,
    gradients: Option<&'a mut Gradients>,
    share: f32,
    buffer_share: f32,
    /// Names of the parameters that have a gradient.
    names: BTreeSet<String>,
    values: Vec<f32>,
    compute: &'a Compute,
}

impl Flatten<'_> {
    fn append<const D: usize>(&mut self, tensor: Tensor<D>, weight: f32) {
        let all = |values: &[f32], into: &mut Vec<f32>| {
            into.extend(values.iter().map(|value| weight * value));
        };
        if is_cpu(&tensor.device()) {
            let tensor = tensor.try_into_primitive::<Flex>();
            let tensor = tensor.expect("a tensor of the CPU device").to_contiguous();
            all(tensor.as_slice().expect("contiguous f32"), &mut self.values);
            return self.compute.give_back(tensor);
        }
        let values: Vec<f32> = tensor
            .into_data()
            .try_into_vec()
            .expect("models compute in f32");
        all(&values, &mut self.values);
    }
}

impl ModuleVisitor for Flatten<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        if !value.is_require_grad() {
            return self.append(value, self.buffer_share);
        }
        let gradients = self.gradients.as_deref_mut();
        if let Some(gradient) = gradients.and_then(|all| value.grad_remove(all)) {
            self.names.insert(self.path.name());
            self.append(gradient, self.share);
        }
    }
}

/// The way back: gradients to where the optimiser takes them from, and the rest into the model.
struct Spread<'a> {
    path: ModulePath,
    gradients: Option<&'a mut Gradients>,
    names: &'a BTreeSet<String>,
    /// Those that are left.
    values: &'a [f32],
    compute: &'a Compute,
}

impl Spread<'_> {
    fn next<const D: usize>(&mut self, shape: [usize; D]) -> TensorData {
        let (values, rest) = self.values.split_at(shape.iter().product());
        self.values = rest;
        let mut copy = self.compute.take(values.len());
        copy.copy_from_slice(values);
        TensorData::new(copy, shape)
    }
}

impl ModuleMapper for Spread<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let value = param.val();
        if !value.is_require_grad() {
            let data = self.next(value.dims());
            return param.map(|old| Tensor::from_data(data, &old.device()));
        }
        if self.names.contains(&self.path.name()) {
            let data = self.next(value.dims());
            let device = value.device().without_autodiff();
            if let Some(gradients) = self.gradients.as_deref_mut() {
                value.grad_replace(gradients, Tensor::from_data(data, &device));
            }
        }
        param
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_a_tree() {
        // 2^24 + 1 is no f32: who adds it to whom can be seen.
        let large = 16_777_216.0;
        let sum = |values: [f32; 4]| {
            let mut sum = TreeSum::default();
            values.into_iter().for_each(|value| sum.add(vec![value]));
            sum.whole()[0]
        };
        assert_eq!(sum([large, 1.0, 1.0, 1.0]), large + 2.0);
        assert_eq!(sum([1.0, 1.0, 1.0, large]), large + 2.0);
        assert_eq!(sum([1.0, 1.0, large, 0.0]), large + 2.0);
        assert_eq!(((large + 1.0) + 1.0) + 1.0, large);
    }
}
