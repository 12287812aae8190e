//! 2. Your own rows, most of them without a label, in memory.

use cpcvae::prelude::*;

fn main() -> Result<()> {
    // Two kinds of flowers, length and width in mm; one row in nine has a label.
    let row = |i: usize| [(i % 20 + 40) as f32, (i % 20 + i % 7 + i % 2 * 12) as f32];
    let label = |i: usize| (i % 18 < 2).then_some(["narrow", "broad"][i % 2]);
    let rows: Vec<[f32; 2]> = (0..400).map(row).collect();
    let data = Dataset::from_rows(&rows, Labels::classes((0..400).map(label)))?;
    let fitted = Cpc::new().seed(1).steps(600).folds(3).fit(&data)?;
    let answers = fitted.predict(&[[51.0, 27.0], [50.0, 13.0], [10.0, 90.0]])?;
    (0..answers.len()).for_each(|row| println!("{}", answers.line(row)));
    Ok(())
}
