//! Executes AMX instructions (Intel's manual, volume 2), including their faults.

use super::decode::{Address, Base, Operation};

/// Tile registers, and bytes in a row, and rows of each.
const TILES: usize = 8;
const ROW_BYTES: usize = 64;
const ROWS: usize = 16;

/// The tiles of one thread.
#[derive(Clone, Debug)]
pub struct Tiles {
    pub configured: bool,
    shapes: [Shape; TILES],
    data: [[[u8; ROW_BYTES]; ROWS]; TILES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    rows: usize,
    row_bytes: usize,
}

impl Tiles {
    /// The initial state of a thread, and after `tilerelease`.
    pub const RELEASED: Tiles = Tiles {
        configured: false,
        shapes: [Shape {
            rows: 0,
            row_bytes: 0,
        }; TILES],
        data: [[[0; ROW_BYTES]; ROWS]; TILES],
    };

    /// The shape of a tile that an instruction may use: with rows, in a configuration.
    fn shape(&self, tile: usize) -> Option<Shape> {
        let shape = self.shapes[tile];
        (self.configured && shape.rows > 0).then_some(shape)
    }
}

/// Executes one instruction; false if a processor would raise an exception instead.
///
/// `registers` are those of the context of a signal, with rip at the next instruction.
///
/// # Safety
/// The memory that the instruction reads or writes must be valid for it.
pub unsafe fn execute(operation: Operation, registers: &[i64; 23], tiles: &mut Tiles) -> bool {
    // SAFETY: by the condition of this function.
    unsafe {
        match operation {
            Operation::LoadConfiguration(from) => {
                let stride = row_stride(from, registers);
                let start = row_base(from, registers).wrapping_add_signed(stride as isize);
                load_configuration(&*(start as *const [u8; 64]), tiles)
            }
            Operation::Release => {
                *tiles = Tiles::RELEASED;
                Some(())
            }
            Operation::Zero(tile) => tiles.shape(tile).map(|_| {
                tiles.data[tile] = [[0; ROW_BYTES]; ROWS];
            }),
            Operation::Load(tile, from) => tiles.shape(tile).map(|shape| {
                tiles.data[tile] = [[0; ROW_BYTES]; ROWS];
                for row in 0..shape.rows {
                    let from = address_of_row(from, registers, row) as *const u8;
                    let to = tiles.data[tile][row][..shape.row_bytes].as_mut_ptr();
                    from.copy_to_nonoverlapping(to, shape.row_bytes);
                }
            }),
            Operation::Store(to, tile) => tiles.shape(tile).map(|shape| {
                for row in 0..shape.rows {
                    let to = address_of_row(to, registers, row) as *mut u8;
                    let from = tiles.data[tile][row][..shape.row_bytes].as_ptr();
                    from.copy_to_nonoverlapping(to, shape.row_bytes);
                }
            }),
            Operation::AddProduct { sum, left, right } => add_product(sum, left, right, tiles),
        }
    }
    .is_some()
}

fn register(number: usize, registers: &[i64; 23]) -> i64 {
    let in_context = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    registers[in_context[number] as usize]
}

/// The address of the first row: the address without its index.
fn row_base(address: Address, registers: &[i64; 23]) -> usize {
    let base = match address.base {
        Base::None => 0,
        Base::Register(number) => register(number, registers),
        Base::NextInstruction => registers[libc::REG_RIP as usize],
    };
    base.wrapping_add(i64::from(address.displacement)) as usize
}

/// The scaled index of an address: the stride of rows.
fn row_stride(address: Address, registers: &[i64; 23]) -> i64 {
    address
        .index
        .map_or(0, |(number, scale)| register(number, registers) << scale)
}

fn address_of_row(address: Address, registers: &[i64; 23], row: usize) -> usize {
    let offset = row_stride(address, registers).wrapping_mul(row as i64);
    row_base(address, registers).wrapping_add_signed(offset as isize)
}

/// `None` for invalid configurations: an unknown palette, reserved bytes that are not zero, tiles
/// that do not exist or are too large, or that have rows without bytes or bytes without rows.
fn load_configuration(bytes: &[u8; 64], tiles: &mut Tiles) -> Option<()> {
    let shape = |tile: usize| Shape {
        rows: usize::from(bytes[48 + tile]),
        row_bytes: usize::from(u16::from_le_bytes([
            bytes[16 + 2 * tile],
            bytes[17 + 2 * tile],
        ])),
    };
    let fits = |shape: Shape| {
        shape.rows <= ROWS
            && shape.row_bytes <= ROW_BYTES
            && (shape.rows == 0) == (shape.row_bytes == 0)
    };
    *tiles = Tiles::RELEASED;
    match bytes[0] {
        0 => Some(()),
        1 => {
            tiles.configured = true;
            tiles.shapes = std::array::from_fn(shape);
            let reserved_is_zero = bytes[1..16].iter().all(|byte| *byte == 0)
                && bytes[32..48].iter().all(|byte| *byte == 0)
                && bytes[56..].iter().all(|byte| *byte == 0);
            (reserved_is_zero && tiles.shapes.into_iter().all(fits)).then_some(())
        }
        _ => None,
    }
}

/// `tdpbf16ps`: 16-bit pairs of a row of `left` times those of a column of `right`.
///
/// A processor fuses the multiplication and the addition. Here they are two operations, which is
/// the same as long as the product is a normal number: that of two bfloat16 has 16 bits.
fn add_product(sum: usize, left: usize, right: usize, tiles: &mut Tiles) -> Option<()> {
    let [sum_shape, left_shape, right_shape] =
        [tiles.shape(sum)?, tiles.shape(left)?, tiles.shape(right)?];
    let fit = sum_shape.rows == left_shape.rows
        && sum_shape.row_bytes == right_shape.row_bytes
        && left_shape.row_bytes == 4 * right_shape.rows
        && [sum_shape, left_shape, right_shape]
            .iter()
            .all(|shape| shape.row_bytes % 4 == 0);
    if !fit || sum == left || sum == right || left == right {
        return None;
    }
    for row in 0..sum_shape.rows {
        let mut totals = [[0.0; 2]; ROW_BYTES / 4];
        for k in 0..left_shape.row_bytes / 4 {
            let left = bf16_pair(&tiles.data[left][row], k);
            for (column, totals) in totals.iter_mut().enumerate().take(sum_shape.row_bytes / 4) {
                let right = bf16_pair(&tiles.data[right][k], column);
                for half in 0..2 {
                    totals[half] = flushed(totals[half] + left[half] * right[half]);
                }
            }
        }
        let mut sums = [0; ROW_BYTES];
        for (column, [even, odd]) in totals.into_iter().enumerate().take(sum_shape.row_bytes / 4) {
            let bytes = 4 * column..4 * column + 4;
            let before = tiles.data[sum][row][bytes.clone()]
                .try_into()
                .expect("four bytes");
            let before = flushed(f32::from_le_bytes(before));
            let after = flushed(before + flushed(even + odd));
            sums[bytes].copy_from_slice(&after.to_le_bytes());
        }
        tiles.data[sum][row] = sums;
    }
    for row in sum_shape.rows..ROWS {
        tiles.data[sum][row] = [0; ROW_BYTES];
    }
    Some(())
}

/// Two bfloat16 numbers, the upper halves of `f32`.
fn bf16_pair(row: &[u8; ROW_BYTES], at: usize) -> [f32; 2] {
    std::array::from_fn(|half| {
        let at = 4 * at + 2 * half;
        flushed(f32::from_le_bytes([0, 0, row[at], row[at + 1]]))
    })
}

/// The instruction flushes subnormal numbers to zero, both operands and results.
fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration with these rows and bytes of tiles 0, 1, ...
    fn configuration(shapes: &[(u8, u8)]) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0] = 1;
        for (tile, (rows, row_bytes)) in shapes.iter().enumerate() {
            (bytes[48 + tile], bytes[16 + 2 * tile]) = (*rows, *row_bytes);
        }
        bytes
    }

    /// An address in rax with rows rbx bytes apart.
    const IN_RAX: Address = Address {
        base: Base::Register(0),
        index: Some((3, 0)),
        displacement: 0,
    };

    fn at<T>(memory: *mut T, stride: i64) -> [i64; 23] {
        let mut registers = [0; 23];
        registers[libc::REG_RAX as usize] = memory as i64;
        registers[libc::REG_RBX as usize] = stride;
        registers
    }

    /// Two rows of three pairs times three pairs of rows of one column, added to one number.
    #[test]
    fn tiles_that_are_not_full() {
        let bf16 = |values: [f32; 6]| values.map(|value| (value.to_bits() >> 16) as u16);
        let mut left = [
            bf16([1., 2., 3., 4., 5., 6.]),
            bf16([0., -1., 0., 0.5, 0., 1e-39]),
        ];
        let mut right = bf16([7., 8., 9., 10., 11., 12.]);
        let mut sum = [[100f32, -1.], [200., -1.]];
        let mut tiles = Tiles::RELEASED;
        let shapes = configuration(&[(2, 4), (2, 12), (3, 4)]);
        assert_eq!(load_configuration(&shapes, &mut tiles), Some(()));
        // SAFETY: the tiles are as large as the arrays, and rows as far apart.
        unsafe {
            let (to_sum, to_left) = (at(&mut sum, 8), at(&mut left, 12));
            assert!(execute(Operation::Load(0, IN_RAX), &to_sum, &mut tiles));
            assert!(execute(Operation::Load(1, IN_RAX), &to_left, &mut tiles));
            assert!(execute(
                Operation::Load(2, IN_RAX),
                &at(&mut right, 4),
                &mut tiles
            ));
            assert_eq!(add_product(0, 1, 2, &mut tiles), Some(()));
            assert!(execute(Operation::Store(IN_RAX, 0), &to_sum, &mut tiles));
        }
        let first = 100. + 7. + 16. + 27. + 40. + 55. + 72.;
        assert_eq!(sum, [[first, -1.], [200. - 8. + 5., -1.]]);
    }

    #[test]
    fn refuses_what_a_processor_refuses() {
        let mut tiles = Tiles::RELEASED;
        // SAFETY: the operation reads and writes no memory.
        let zero = |tiles: &mut Tiles| unsafe { execute(Operation::Zero(1), &[0; 23], tiles) };
        let refused = |tiles: &mut Tiles| !zero(tiles);
        assert!(refused(&mut tiles)); // not configured
        for shapes in [(17, 4), (1, 65), (0, 4), (4, 0)] {
            assert_eq!(
                load_configuration(&configuration(&[shapes]), &mut tiles),
                None
            );
        }
        assert_eq!(load_configuration(&[2; 64], &mut tiles), None);
        let shapes = configuration(&[(2, 4), (0, 0), (2, 12), (4, 4)]);
        assert_eq!(load_configuration(&shapes, &mut tiles), Some(()));
        assert!(refused(&mut tiles)); // no rows
        assert_eq!(add_product(0, 2, 3, &mut tiles), None); // three pairs times four
        assert_eq!(add_product(0, 2, 2, &mut tiles), None);
    }
}
