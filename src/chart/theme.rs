//! Colours and sizes of charts. The hex values are those of `static/style/tokens.css`, which a canvas cannot read;
//! `tests/chart_snapshots.rs` keeps them equal.

use plotters::style::RGBColor;

use super::Tone;

/// The colours of charts, each with one meaning: one accent, one for measurements, one per resource, the rest neutral.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// Background.
    pub panel: RGBColor,
    /// Grid lines.
    pub line: RGBColor,
    /// Axis lines, and what is shown for comparison, such as unused roofs.
    pub faint: RGBColor,
    /// Tick and axis labels.
    pub muted: RGBColor,
    /// Roofs, limits, labels, decode.
    pub ink: RGBColor,
    /// The result itself; prefill.
    pub accent: RGBColor,
    /// Measured runs.
    pub measured: RGBColor,
    /// Compute, memory, links, launch and host. Where none is shown, kinds of plans, or degrees of TP.
    pub resources: [RGBColor; 4],
}

impl Palette {
    pub const LIGHT: Self = Self {
        panel: hex(0xff_ff_ff),
        line: hex(0xe4_e8_eb),
        faint: hex(0x8a_95_9f),
        muted: hex(0x55_60_6a),
        ink: hex(0x15_1a_1e),
        accent: hex(0x0b_6e_85),
        measured: hex(0x5a_7a_00),
        resources: [hex(0x4f_5b_b0), hex(0x96_5f_0c), hex(0xa8_3d_73), hex(0x66_70_7a)],
    };

    pub const DARK: Self = Self {
        panel: hex(0x15_19_1d),
        line: hex(0x26_2d_33),
        faint: hex(0x6b_77_82),
        muted: hex(0x9a_a6_b1),
        ink: hex(0xe6_ea_ee),
        accent: hex(0x56_c7_dd),
        measured: hex(0xb5_d0_4a),
        resources: [hex(0x9d_a8_ff), hex(0xde_ae_5b), hex(0xe8_8c_ba), hex(0x9a_a4_ad)],
    };

    pub fn of(dark: bool) -> Self {
        if dark { Self::DARK } else { Self::LIGHT }
    }

    pub fn tone(&self, tone: Tone) -> RGBColor {
        match tone {
            Tone::Accent => self.accent,
            Tone::Ink => self.ink,
            Tone::Muted => self.muted,
            Tone::Faint => self.faint,
            Tone::Measured => self.measured,
            Tone::Kind(index) => self.resources[index % self.resources.len()],
        }
    }

    /// The colours with their CSS token names.
    pub fn tokens(&self) -> [(&'static str, RGBColor); 11] {
        let [compute, memory, links, host] = self.resources;
        [
            ("panel", self.panel),
            ("line", self.line),
            ("faint", self.faint),
            ("muted", self.muted),
            ("ink", self.ink),
            ("accent", self.accent),
            ("measured", self.measured),
            ("resource-compute", compute),
            ("resource-memory", memory),
            ("resource-links", links),
            ("resource-host", host),
        ]
    }
}

const fn hex(rgb: u32) -> RGBColor {
    RGBColor((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

/// How a chart is drawn. Sizes are in CSS pixels; `scale` turns them into the backing store's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    pub palette: Palette,
    /// Backing-store pixels per CSS pixel.
    pub scale: f64,
    /// Whether bars draw their own legend; in the page the filtering legend replaces it.
    pub keyed: bool,
}

impl Theme {
    /// The page's font stack, so that chart text matches it.
    pub const FONT: &'static str = "system-ui, sans-serif";
    /// Tick, roof and point labels, in CSS pixels.
    pub const TEXT: f64 = 12.0;
    /// Mean advance of a system font, in ems: used to size labels.
    pub(super) const ADVANCE: f64 = 0.56;
    /// Extra room for names that must not be cut: the widest words over the mean.
    const WIDE: f64 = 1.15;

    pub fn new(palette: Palette, scale: f64) -> Self {
        Self { palette, scale, keyed: true }
    }

    pub fn without_key(self) -> Self {
        Self { keyed: false, ..self }
    }

    /// A length in CSS pixels as backing-store pixels.
    pub fn px(&self, css: f64) -> f64 {
        css * self.scale
    }

    /// A length in CSS pixels as whole backing-store pixels.
    pub fn size(&self, css: f64) -> i32 {
        self.px(css).round() as i32
    }

    /// A stroke: never thinner than one backing-store pixel.
    pub fn stroke(&self, css: f64) -> u32 {
        self.px(css).round().max(1.0) as u32
    }

    /// A width certain to fit `text`, in backing-store pixels.
    pub fn text_room(&self, text: &str) -> f64 {
        self.text_width(text) * Self::WIDE
    }

    /// Estimated width of `text`, in backing-store pixels.
    pub fn text_width(&self, text: &str) -> f64 {
        self.px(Self::css_width(text))
    }

    /// The same in CSS pixels.
    pub fn css_width(text: &str) -> f64 {
        text.chars().count() as f64 * Self::TEXT * Self::ADVANCE
    }
}
