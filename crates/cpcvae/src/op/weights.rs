//! Weights packed for bfloat16 products, once between two updates.
//!
//! A packed copy is kept together with a handle of the weights that it was made of. While that
//! handle lives, nobody can change those weights in place or reuse their memory, so an address
//! found here is proof that the copy is current. The optimiser calls [`forget`] before it
//! updates; forgetting to do so would cost a copy of the weights, not a wrong result.

use super::cpu::{sizes, values};
use burn_flex::FlexTensor;
use cpcvae_kernels::isa::Isa;
use cpcvae_kernels::linear::{PackedWeights, WeightsRef};
use cpcvae_kernels::product::{Precision, precision_of_layer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Default)]
struct Known {
    /// By the address of the weights.
    current: HashMap<usize, (FlexTensor, Arc<PackedWeights>)>,
    /// Copies that are out of date, whose memory serves again.
    outdated: Vec<PackedWeights>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Packed weights where products of the current precision want them packed.
pub(super) struct Handle(Option<Arc<PackedWeights>>);

impl Handle {
    /// For `weight [inputs, outputs]`, contiguous.
    pub(super) fn of(weight: &FlexTensor) -> Self {
        let [inputs, outputs] = sizes(weight);
        let wanted = precision_of_layer(inputs, outputs) == Precision::Bf16
            && Isa::current().has_bf16_products();
        Self(wanted.then(|| packed(weight)))
    }

    /// The weights as the kernels take them.
    pub(super) fn weights<'a>(&'a self, plain: &'a FlexTensor) -> WeightsRef<'a> {
        match &self.0 {
            Some(packed) => WeightsRef::Packed(packed),
            None => WeightsRef::Plain(values(plain)),
        }
    }
}

fn packed(weight: &FlexTensor) -> Arc<PackedWeights> {
    let mut known = lock();
    let Known { current, outdated } = known.get_or_insert_default();
    let address = values(weight).as_ptr() as usize;
    let (_, packed) = current.entry(address).or_insert_with(|| {
        let shape = sizes(weight);
        let reusable = outdated.iter().position(|copy| copy.shape() == shape);
        let mut copy = reusable.map_or_else(PackedWeights::default, |i| outdated.swap_remove(i));
        copy.pack(shape[0], shape[1], values(weight));
        (weight.clone(), Arc::new(copy))
    });
    packed.clone()
}

/// Lets go of all weights, because they are about to change. Their packed copies give their
/// memory to the next ones.
pub fn forget() {
    if let Some(known) = lock().as_mut() {
        let copies = known.current.drain().map(|(_, (_, copy))| copy);
        known.outdated = copies.filter_map(Arc::into_inner).collect();
    }
}

fn lock() -> MutexGuard<'static, Option<Known>> {
    KNOWN
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::cpu::tensor;

    #[test]
    fn a_copy_serves_until_the_weights_change() {
        let weight = tensor((0..6).map(|v| v as f32).collect(), &[2, 3]);
        let first = packed(&weight);
        assert!(Arc::ptr_eq(&first, &packed(&weight)));
        assert_eq!(first.shape(), [2, 3]);
        // As long as the copy is kept, the weights are shared: a change makes new ones.
        let mut changed = weight.clone();
        drop(weight);
        changed.storage_mut::<f32>()[0] = 9.0;
        assert!(!Arc::ptr_eq(&first, &packed(&changed)));
        drop(first);
        forget();
        // Nobody holds them any more: a change happens in place, and is packed anew.
        let place = values(&changed).as_ptr();
        changed.storage_mut::<f32>()[1] = 8.0;
        assert_eq!(values(&changed).as_ptr(), place);
        let again = packed(&changed);
        assert_eq!(again.shape(), [2, 3]);
        forget();
    }
}
