//! Small NORB: toys photographed in stereo (LeCun et al. 2004), from its own binary files.

use crate::{DataError, DataRemedy, Dataset, Features, Labels, Layout, Result, Source, compressed};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The official names begin like this, for training and for testing; `-dat.mat` (images) and
/// `-cat.mat` (categories) follow, perhaps `.gz`.
const PARTS: [&str; 2] = [
    "smallnorb-5x46789x9x18x6x2x96x96-training",
    "smallnorb-5x01235x9x18x6x2x96x96-testing",
];
/// Where the files may be, under a data folder.
const FOLDERS: [&str; 3] = ["norb", "smallnorb", ""];
/// The five categories in their order.
const CATEGORIES: [&str; 5] = ["animal", "human", "airplane", "truck", "car"];
/// Magic numbers of matrices of bytes and of 32-bit integers.
const BYTES: u32 = 0x1E3D_4C55;
const INTEGERS: u32 = 0x1E3D_4C54;
/// Pixels a side after averaging each 2 x 2.
const SIDE: usize = 48;

/// Opens small NORB: 24,300 rows for training and as many for testing, 48 x 48 pixels.
///
/// The first image of each stereo pair is used, and every 2 x 2 of its pixels are averaged. Files
/// are read in one pass, an image at a time.
pub fn open_norb(data_dir: impl AsRef<Path>) -> Result<Source> {
    let data_dir = data_dir.as_ref();
    let [rows, test] = PARTS.map(|part| {
        let find = |kind| find(data_dir, part, kind).ok_or_else(|| missing(data_dir, part, kind));
        open_part(&find("dat")?, &find("cat")?)
    });
    Ok(Source {
        rows: rows?,
        test: Some(test?),
        split: None,
    })
}

/// Whether all four files are there.
pub(crate) fn is_present(data_dir: &Path) -> bool {
    let kinds = ["dat", "cat"];
    let mut files = PARTS.iter().flat_map(|part| kinds.map(|kind| (part, kind)));
    files.all(|(part, kind)| find(data_dir, part, kind).is_some())
}

fn find(data_dir: &Path, part: &str, kind: &str) -> Option<PathBuf> {
    let names = [
        format!("{part}-{kind}.mat.gz"),
        format!("{part}-{kind}.mat"),
    ];
    let folders = FOLDERS.iter().map(|folder| data_dir.join(folder));
    folders
        .flat_map(|folder| names.clone().map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

fn missing(data_dir: &Path, part: &str, kind: &str) -> DataError {
    let folders = FOLDERS.map(|folder| data_dir.join(folder).display().to_string());
    let error = DataError::Missing {
        what: format!("the small NORB file {part}-{kind}.mat (or .mat.gz)"),
        looked_in: folders.join(", "),
        advice: "Get it from https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/, put it there, or \
                 name another folder"
            .into(),
    };
    error.with_remedy(DataRemedy::FindData { fetch: None })
}

fn open_part(images: &Path, categories: &Path) -> Result<Dataset> {
    let (pixels, count) = read_images(images)?;
    let categories_of_row = read_categories(categories)?;
    if categories_of_row.len() != count {
        return Err(DataError::Shape(format!(
            "{} holds {count} pairs of images, but {} holds {} categories; the files do not \
             belong together",
            images.display(),
            categories.display(),
            categories_of_row.len()
        )));
    }
    let layout = Layout::Image {
        height: SIDE,
        width: SIDE,
        channels: 1,
    };
    let labels = Labels::Classes {
        names: CATEGORIES.map(String::from).to_vec(),
        of_row: categories_of_row.into_iter().map(Some).collect(),
    };
    let features = Features::of_bytes(pixels, SIDE * SIDE);
    Dataset::new("norb", features, layout, labels)
}

/// The first images of all pairs, downscaled, and their number.
fn read_images(path: &Path) -> Result<(Vec<u8>, usize)> {
    let mut file = Matrix::open(path, BYTES)?;
    let [count, 2, height, width] = file.sizes[..] else {
        return Err(file.wrong("images are [count, 2, 96, 96]"));
    };
    if [height, width] != [2 * SIDE; 2] || count == 0 {
        return Err(file.wrong("images are [count, 2, 96, 96]"));
    }
    let mut pair = vec![0; 2 * height * width];
    let mut pixels = Vec::new();
    for _ in 0..count {
        file.read(&mut pair)?;
        let two_rows = pair[..height * width].chunks_exact(2 * width);
        for (upper, lower) in two_rows.map(|rows| rows.split_at(width)) {
            let squares = upper.chunks_exact(2).zip(lower.chunks_exact(2));
            pixels.extend(squares.map(|(upper, lower)| {
                let sum: u32 = upper.iter().chain(lower).map(|byte| u32::from(*byte)).sum();
                ((sum + 2) / 4) as u8
            }));
        }
    }
    file.end()?;
    Ok((pixels, count))
}

fn read_categories(path: &Path) -> Result<Vec<u32>> {
    let mut file = Matrix::open(path, INTEGERS)?;
    let [count] = file.sizes[..] else {
        return Err(file.wrong("categories are [count]"));
    };
    let mut categories = Vec::new();
    for _ in 0..count {
        let mut bytes = [0; 4];
        file.read(&mut bytes)?;
        let category = u32::from_le_bytes(bytes);
        if category as usize >= CATEGORIES.len() {
            let problem = format!("category {category} is not one of 0 to 4");
            return Err(DataError::content(path, problem));
        }
        categories.push(category);
    }
    file.end()?;
    Ok(categories)
}

/// A matrix in NORB's binary layout, little-endian: magic number, number of dimensions, the
/// dimensions (three at least), the values.
struct Matrix<'a> {
    path: &'a Path,
    reader: Box<dyn Read + Send>,
    sizes: Vec<usize>,
}

impl<'a> Matrix<'a> {
    fn open(path: &'a Path, magic: u32) -> Result<Self> {
        let mut file = Self {
            path,
            reader: compressed::open(path)?,
            sizes: Vec::new(),
        };
        let found = file.word()?;
        if found != magic {
            return Err(DataError::content(
                path,
                format!("not such a file of NORB: it begins with {found:#010x}, not {magic:#010x}"),
            ));
        }
        let dimensions = file.word()? as usize;
        if !(1..=8).contains(&dimensions) {
            let problem = format!("NORB has no matrices of {dimensions} dimensions");
            return Err(DataError::content(path, problem));
        }
        for place in 0..dimensions.max(3) {
            let size = file.word()? as usize;
            if place < dimensions {
                file.sizes.push(size);
            }
        }
        Ok(file)
    }

    fn word(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        self.read(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.reader.read_exact(bytes).map_err(|error| {
            let problem = format!("the file is cut short or damaged ({error}); get it again");
            DataError::content(self.path, problem)
        })
    }

    /// Fails if bytes follow.
    fn end(&mut self) -> Result<()> {
        match self.reader.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(DataError::content(
                self.path,
                "more bytes follow than its header says",
            )),
            Err(error) => Err(compressed::read_error(self.path, error)),
        }
    }

    fn wrong(&self, expected: &str) -> DataError {
        DataError::content(
            self.path,
            format!("its sizes are {:?}; {expected}", self.sizes),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(magic: u32, sizes: &[u32], values: &[u8]) -> Vec<u8> {
        let mut words = vec![magic, sizes.len() as u32];
        words.extend(sizes);
        words.resize(words.len().max(5), 1);
        let head = words.into_iter().flat_map(u32::to_le_bytes);
        head.chain(values.iter().copied()).collect()
    }

    fn write(folder: &Path, part: &str, categories: &[u32]) {
        let count = categories.len();
        let mut pixels = vec![0; count * 2 * 96 * 96];
        for (image, category) in pixels.chunks_exact_mut(2 * 96 * 96).zip(categories) {
            // The first 2 x 2 pixels of the first of the pair; the second of the pair is not used.
            for place in [0, 1, 96, 97] {
                image[place] = 10 * *category as u8 + if place == 97 { 4 } else { 0 };
            }
            image[96 * 96..].fill(255);
        }
        let images = matrix(BYTES, &[count as u32, 2, 96, 96], &pixels);
        let bytes: Vec<u8> = categories.iter().flat_map(|c| c.to_le_bytes()).collect();
        std::fs::write(folder.join(format!("{part}-dat.mat")), images).unwrap();
        let categories = matrix(INTEGERS, &[count as u32], &bytes);
        std::fs::write(folder.join(format!("{part}-cat.mat")), categories).unwrap();
    }

    #[test]
    fn the_first_of_each_pair_at_half_the_size() {
        let data = tempfile::tempdir().unwrap();
        write(data.path(), PARTS[0], &[4, 0, 2]);
        assert!(!is_present(data.path()));
        write(data.path(), PARTS[1], &[1]);
        assert!(is_present(data.path()));
        let source = open_norb(data.path()).unwrap();
        assert_eq!((source.rows.len(), source.rows.width()), (3, 48 * 48));
        assert_eq!(source.rows.labels.class_of(0), Some(4));
        let row = source.rows.features.row(0);
        assert_eq!(row[..2], [41.0 / 255.0, 0.0]);
        let test = source.test.unwrap();
        assert_eq!(test.class_names()[1], "human");
        assert_eq!(test.len(), 1);
    }

    #[test]
    fn wrong_and_cut_files_are_refused() {
        let data = tempfile::tempdir().unwrap();
        write(data.path(), PARTS[0], &[0]);
        write(data.path(), PARTS[1], &[1, 2]);
        let message = || open_norb(data.path()).unwrap_err().to_string();
        let images = data.path().join(format!("{}-dat.mat", PARTS[1]));
        let whole = std::fs::read(&images).unwrap();
        std::fs::write(&images, &whole[..whole.len() - 1]).unwrap();
        assert!(message().contains("cut short"), "{}", message());
        std::fs::write(&images, [&whole[..], &[0]].concat()).unwrap();
        assert!(message().contains("more bytes"), "{}", message());
        std::fs::write(&images, matrix(BYTES, &[2, 96, 96], &[])).unwrap();
        assert!(message().contains("[2, 96, 96]"), "{}", message());
        std::fs::write(&images, matrix(INTEGERS, &[1], &[])).unwrap();
        assert!(message().contains("not such a file"), "{}", message());
        std::fs::write(&images, whole).unwrap();
        let categories = data.path().join(format!("{}-cat.mat", PARTS[1]));
        std::fs::write(&categories, matrix(INTEGERS, &[1], &[9, 0, 0, 0])).unwrap();
        assert!(message().contains("category 9"), "{}", message());
        std::fs::write(&categories, matrix(INTEGERS, &[1], &[1, 0, 0, 0])).unwrap();
        assert!(
            message().contains("do not belong together"),
            "{}",
            message()
        );
        let missing = open_norb("/nowhere").unwrap_err().to_string();
        assert!(missing.contains("/nowhere/norb") && missing.contains("another folder"));
    }
}
