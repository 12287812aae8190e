//! cpcvae-kernels
