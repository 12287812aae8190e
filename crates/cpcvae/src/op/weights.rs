//! Weights packed for bfloat16 products, once per update.
//!
//! A packed copy is stored with a handle of the weights that it was made of. While that handle
//! lives, those weights cannot be changed in place and their memory cannot be reused, so finding
//! their address here proves that the copy is current. The optimiser calls
//! [`super::Compute::forget_weights`] before it updates; omitting the call would cost a copy of the
//! weights, not give a wrong result.

use super::Compute;
use super::cpu::{sizes, values};
use burn_flex::FlexTensor;
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::linear::{PackedWeights, WeightsRef};
use cpcvae_kernels::product::Precision;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Packed copies of the weights of one model.
#[derive(Debug, Default)]
pub(super) struct PackedCopies(Mutex<Copies>);

#[derive(Debug, Default)]
struct Copies {
    /// By the address of the weights.
    current: HashMap<usize, (FlexTensor, Arc<PackedWeights>)>,
    /// Outdated copies, whose memory is reused.
    outdated: Vec<PackedWeights>,
}

impl PackedCopies {
    fn of(&self, weight: &FlexTensor) -> Arc<PackedWeights> {
        let mut copies = self.lock();
        let Copies { current, outdated } = &mut *copies;
        let address = values(weight).as_ptr() as usize;
        let (_, packed) = current.entry(address).or_insert_with(|| {
            let shape = sizes(weight);
            let reusable = outdated.iter().position(|copy| copy.shape() == shape);
            let mut copy =
                reusable.map_or_else(PackedWeights::default, |i| outdated.swap_remove(i));
            copy.pack(shape[0], shape[1], values(weight));
            (weight.clone(), Arc::new(copy))
        });
        packed.clone()
    }

    /// Drops all weights, because they are about to change. The memory of their packed copies is
    /// reused.
    pub(super) fn forget(&self) {
        let mut copies = self.lock();
        let current = copies.current.drain().map(|(_, (_, copy))| copy);
        copies.outdated = current.filter_map(Arc::into_inner).collect();
    }

    /// Frees all copies.
    pub(super) fn clear(&self) {
        *self.lock() = Copies::default();
    }

    fn lock(&self) -> MutexGuard<'_, Copies> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Packed weights, where the model's precision uses them.
pub(super) struct Handle(Option<Arc<PackedWeights>>);

impl Handle {
    /// For `weight [inputs, outputs]`, contiguous.
    pub(super) fn of(compute: &Compute, weight: &FlexTensor) -> Self {
        let [inputs, outputs] = sizes(weight);
        let wanted = compute.precision().of_layer(inputs, outputs) == Precision::Bf16
            && Isa::current().has_bf16_products();
        Self(wanted.then(|| compute.weights().of(weight)))
    }

    /// The weights in the form that the kernels take.
    pub(super) fn weights<'a>(&'a self, plain: &'a FlexTensor) -> WeightsRef<'a> {
        match &self.0 {
            Some(packed) => WeightsRef::Packed(packed),
            None => WeightsRef::Plain(values(plain)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::cpu::tensor;

    #[test]
    fn a_copy_serves_until_the_weights_change() {
        let copies = PackedCopies::default();
        let weight = tensor((0..6).map(|v| v as f32).collect(), &[2, 3]);
        let first = copies.of(&weight);
        assert!(Arc::ptr_eq(&first, &copies.of(&weight)));
        assert_eq!(first.shape(), [2, 3]);
        // While the packed copy is kept, the weights are shared, so a change makes a copy.
        let mut changed = weight.clone();
        drop(weight);
        changed.storage_mut::<f32>()[0] = 9.0;
        assert!(!Arc::ptr_eq(&first, &copies.of(&changed)));
        drop(first);
        copies.forget();
        // Without another handle, a change happens in place, and the weights are packed anew.
        let place = values(&changed).as_ptr();
        changed.storage_mut::<f32>()[1] = 8.0;
        assert_eq!(values(&changed).as_ptr(), place);
        assert_eq!(copies.of(&changed).shape(), [2, 3]);
    }

    #[test]
    fn an_update_elsewhere_leaves_copies_as_they_are() {
        let (own, other) = (PackedCopies::default(), PackedCopies::default());
        let weight = tensor(vec![1.0; 6], &[2, 3]);
        let first = own.of(&weight);
        assert!(!Arc::ptr_eq(&first, &other.of(&weight)));
        other.forget();
        assert!(Arc::ptr_eq(&first, &own.of(&weight)));
    }
}
