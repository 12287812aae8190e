//! Decodes AMX instructions from machine code (Intel's manual, volume 2, chapters 2.3 and 3).

/// One of the instructions that the emulator supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `ldtilecfg`
    LoadConfiguration(Address),
    /// `tilerelease`
    Release,
    /// `tilezero`
    Zero(usize),
    /// `tileloadd`: the index of the address is the distance of rows.
    Load(usize, Address),
    /// `tilestored`, likewise.
    Store(Address, usize),
    /// `tdpbf16ps`
    AddProduct {
        sum: usize,
        left: usize,
        right: usize,
    },
}

/// `base + (index << scale) + displacement`; registers are numbered as in machine code: rax, rcx,
/// rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Base,
    pub index: Option<(usize, u8)>,
    pub displacement: i32,
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    None,
    Register(usize),
    NextInstruction,
}

/// The fields of the VEX prefix, not inverted.
struct Prefix {
    /// Extends the index register.
    x: usize,
    /// Extends the base register.
    b: usize,
    vvvv: usize,
    /// The implied legacy prefix: none, 66, F3 or F2.
    pp: u8,
}

/// Reads an instruction byte by byte and no further; `None` if it is not supported.
pub fn decode(mut next: impl FnMut() -> u8) -> Option<Operation> {
    const NONE: u8 = 0;
    const F3: u8 = 2;
    const F2: u8 = 3;
    if next() != 0xc4 {
        return None;
    }
    let (first, second) = (next(), next());
    let prefix = Prefix {
        x: usize::from(!first >> 6 & 1),
        b: usize::from(!first >> 5 & 1),
        vvvv: usize::from(!second >> 3 & 0xf),
        pp: second & 3,
    };
    // Opcode map 0F38, 128 bits, W0, and no register extension, since there are eight tiles.
    if first & 0x9f != 0x82 || second & 0x84 != 0 {
        return None;
    }
    let opcode = next();
    let modrm = next();
    let (in_memory, reg, rm) = (
        modrm >> 6 != 3,
        usize::from(modrm >> 3 & 7),
        usize::from(modrm & 7),
    );
    // The tile instructions without a third operand require 1111, which is 0 inverted.
    let two_operands = prefix.vvvv == 0;
    let only_registers = !in_memory && prefix.b == 0;
    match (opcode, prefix.pp) {
        (0x49, NONE) if two_operands && in_memory && reg == 0 => Some(
            Operation::LoadConfiguration(address(&prefix, modrm, &mut next)),
        ),
        (0x49, NONE) if two_operands && modrm == 0xc0 => Some(Operation::Release),
        (0x49, F2) if two_operands && only_registers && rm == 0 => Some(Operation::Zero(reg)),
        (0x4b, F2) if two_operands && in_memory && rm == 4 => {
            Some(Operation::Load(reg, address(&prefix, modrm, &mut next)))
        }
        (0x4b, F3) if two_operands && in_memory && rm == 4 => {
            Some(Operation::Store(address(&prefix, modrm, &mut next), reg))
        }
        (0x5c, F3) if only_registers && prefix.vvvv < 8 => Some(Operation::AddProduct {
            sum: reg,
            left: rm,
            right: prefix.vvvv,
        }),
        _ => None,
    }
}

/// The rest of an instruction: SIB byte and displacement, if there are any.
fn address(prefix: &Prefix, modrm: u8, next: &mut impl FnMut() -> u8) -> Address {
    let (mode, rm) = (modrm >> 6, modrm & 7);
    let mut base_number = rm;
    let mut index = None;
    if rm == 4 {
        let sib = next();
        base_number = sib & 7;
        let index_number = 8 * prefix.x + usize::from(sib >> 3 & 7);
        // rsp cannot be an index: its number says that there is none.
        index = (index_number != 4).then_some((index_number, sib >> 6));
    }
    let base = match (mode, base_number, rm) {
        (0, 5, 4) => Base::None,
        (0, 5, _) => Base::NextInstruction,
        _ => Base::Register(8 * prefix.b + usize::from(base_number)),
    };
    let displacement = match mode {
        1 => i32::from(next() as i8),
        0 if matches!(base, Base::Register(_)) => 0,
        _ => i32::from_le_bytes(std::array::from_fn(|_| next())),
    };
    Address {
        base,
        index,
        displacement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::global_asm;

    // The instructions as assembled, as data.
    global_asm!(
        ".pushsection .rodata",
        "amx_encodings_start:",
        "ldtilecfg [rax]",
        "ldtilecfg [r12]",
        "ldtilecfg [rbp + r8*8 - 5]",
        "ldtilecfg [rip + 0x1234]",
        "tilerelease",
        "tilezero tmm0",
        "tilezero tmm7",
        "tileloadd tmm4, [rdi + rsi*1]",
        "tileloadd tmm7, [r13 + r12*2 + 1024]",
        "tileloadd tmm1, [rsp]",
        "tileloadd tmm2, [rcx*4 + 64]",
        "tilestored [r8 + rax*1 + 64], tmm3",
        "tilestored [rbp + rbx*1], tmm5",
        "tdpbf16ps tmm0, tmm4, tmm6",
        "tdpbf16ps tmm3, tmm5, tmm7",
        "amx_encodings_end:",
        ".popsection",
    );

    unsafe extern "C" {
        static amx_encodings_start: u8;
        static amx_encodings_end: u8;
    }

    fn at(base: Base, index: Option<(usize, u8)>, displacement: i32) -> Address {
        Address {
            base,
            index,
            displacement,
        }
    }

    #[test]
    fn agrees_with_the_assembler() {
        use Base::{NextInstruction, None as NoBase, Register};
        use Operation::*;
        let product = |sum, left, right| AddProduct { sum, left, right };
        let expected = [
            LoadConfiguration(at(Register(0), None, 0)),
            LoadConfiguration(at(Register(12), None, 0)),
            LoadConfiguration(at(Register(5), Some((8, 3)), -5)),
            LoadConfiguration(at(NextInstruction, None, 0x1234)),
            Release,
            Zero(0),
            Zero(7),
            Load(4, at(Register(7), Some((6, 0)), 0)),
            Load(7, at(Register(13), Some((12, 1)), 1024)),
            Load(1, at(Register(4), None, 0)),
            Load(2, at(NoBase, Some((1, 2)), 64)),
            Store(at(Register(8), Some((0, 0)), 64), 3),
            Store(at(Register(5), Some((3, 0)), 0), 5),
            product(0, 4, 6),
            product(3, 5, 7),
        ];
        // SAFETY: both symbols are defined above, in this order and in one section.
        let code = unsafe {
            let (start, end) = (&raw const amx_encodings_start, &raw const amx_encodings_end);
            std::slice::from_raw_parts(start, end.offset_from(start) as usize)
        };
        let mut bytes = code.iter().copied();
        for expected in expected {
            assert_eq!(decode(|| bytes.next().unwrap()), Some(expected));
        }
        assert_eq!(bytes.next(), None);
    }

    /// Neighbours in the opcode tables, which the kernels do not use.
    #[test]
    fn declines_other_instructions() {
        let others: [&[u8]; 8] = [
            &[0x0f, 0x0b],                         // ud2
            &[0xc5, 0xf8, 0x77],                   // vzeroupper
            &[0xc4, 0xe2, 0x79, 0x49, 0x00],       // sttilecfg [rax]
            &[0xc4, 0xe2, 0x79, 0x4b, 0x04, 0x08], // tileloaddt1 tmm0, [rax + rcx]
            &[0xc4, 0xe2, 0x4b, 0x5c, 0xc4],       // tdpfp16ps tmm0, tmm4, tmm6
            &[0xc4, 0xe2, 0x4a, 0x5e, 0xc4],       // tdpbsud tmm0, tmm4, tmm6
            &[0xc4, 0xe2, 0xca, 0x5c, 0xc4],       // W1
            &[0xc4, 0xe2, 0x0a, 0x5c, 0xc4],       // tmm14
        ];
        for code in others {
            let mut bytes = code.iter().copied();
            assert_eq!(decode(|| bytes.next().unwrap()), None, "{code:x?}");
        }
    }
}
