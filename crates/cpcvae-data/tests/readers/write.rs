//! Writes small files of the formats under test.

use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
use std::io::{Cursor, Write};

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(content: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest)
}

/// An NPY file as NumPy writes it: the header is padded to a multiple of 64 bytes.
pub fn npy(descr: &str, fortran_order: bool, shape: &[usize], elements: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let mut header =
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': ({sizes}), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(elements);
    file
}

pub fn npy_f32(shape: &[usize], values: &[f32]) -> Vec<u8> {
    npy(
        "'<f4'",
        false,
        shape,
        &values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<_>>(),
    )
}

pub fn npy_texts(texts: &[&str]) -> Vec<u8> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap();
    let mut elements = Vec::new();
    for text in texts {
        let codes = text.chars().map(u32::from).chain(std::iter::repeat(0));
        elements.extend(codes.take(width).flat_map(u32::to_le_bytes));
    }
    npy(&format!("'<U{width}'"), false, &[texts.len()], &elements)
}

pub fn zip(files: &[(&str, &[u8])], compressed: bool) -> Vec<u8> {
    let method = match compressed {
        true => zip::CompressionMethod::Deflated,
        false => zip::CompressionMethod::Stored,
    };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A PNG of one colour; three values for colour, one for grey.
pub fn png(width: u32, height: u32, colour: &[u8]) -> Vec<u8> {
    let pixels = colour.repeat((width * height) as usize);
    let kind = match colour.len() {
        1 => image::ExtendedColorType::L8,
        _ => image::ExtendedColorType::Rgb8,
    };
    let mut file = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut file);
    image::ImageEncoder::write_image(encoder, &pixels, width, height, kind).unwrap();
    file
}

/// A JPEG of a pattern.
pub fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let pixels: Vec<u8> = (0..width * height * 3)
        .map(|place| (place * 37 % 251) as u8)
        .collect();
    let mut file = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new(&mut file);
    let kind = image::ExtendedColorType::Rgb8;
    image::ImageEncoder::write_image(encoder, &pixels, width, height, kind).unwrap();
    file
}
