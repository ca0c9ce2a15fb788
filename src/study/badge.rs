//! A README badge: the configuration and its three numbers, as SVG.

use super::words;
use crate::chart::Palette;
use crate::config::Setup;
use crate::serving::Report;
use crate::units::{count, escaped};

/// Pixels.
const HEIGHT: u32 = 20;
const MARGIN: u32 = 8;
const BASELINE: u32 = 14;
const FONT: u32 = 11;
/// Mean width of a character.
const ADVANCE: f64 = 6.4;

/// `None` without an answer.
pub fn badge(setup: &Setup, report: &Report, palette: Palette) -> Option<String> {
    let headline = report.headline.as_ref()?;
    let ttft =
        if report.queue_grows(setup) { words::GROWS.to_owned() } else { headline.ttft.print().to_string() };
    let mut numbers = vec![format!("TTFT {ttft}")];
    numbers.extend(headline.tpot.map(|tpot| format!("TPOT {}", tpot.print())));
    numbers.push(format!("{} tok/s", count(headline.output_per_s)));
    Some(drawn(&words::title(setup), &numbers.join(" · "), palette))
}

/// The two texts, each on its own background.
fn drawn(name: &str, numbers: &str, palette: Palette) -> String {
    let width = |text: &str| (text.chars().count() as f64 * ADVANCE).round() as u32;
    let (of_name, of_numbers) = (width(name), width(numbers));
    let (left, right) = (of_name + 2 * MARGIN, of_numbers + 2 * MARGIN);
    let (whole, begin) = (left + right, left + MARGIN);
    let [ink, accent, panel] = [palette.ink, palette.accent, palette.panel]
        .map(|colour| format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2));
    let (name, numbers) = (escaped(name), escaped(numbers));
    // Text lengths are fixed, so they fit their background in any font.
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{HEIGHT}" role="img" aria-label="{name}: {numbers}">
<title>{name}: {numbers}</title>
<rect width="{whole}" height="{HEIGHT}" rx="3" fill="{accent}"/>
<path d="M{left} 0H3a3 3 0 0 0-3 3V{}a3 3 0 0 0 3 3H{left}z" fill="{ink}"/>
<g fill="{panel}" font-family="Verdana, Geneva, DejaVu Sans, sans-serif" font-size="{FONT}">
<text x="{MARGIN}" y="{BASELINE}" textLength="{of_name}" lengthAdjust="spacingAndGlyphs">{name}</text>
<text x="{begin}" y="{BASELINE}" textLength="{of_numbers}" lengthAdjust="spacingAndGlyphs">{numbers}</text>
</g>
</svg>"##,
        HEIGHT - 3,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let svg = drawn("a < b & \"c\"", "d > e", Palette::LIGHT);
        assert!(svg.contains("<title>a &lt; b &amp; &quot;c&quot;: d &gt; e</title>"), "{svg}");
    }

    /// Checks WCAG 2.2 AA contrast for text of this size.
    #[test]
    fn both_texts_stand_out() {
        let luminance = |colour: plotters::style::RGBColor| {
            let linear = |byte: u8| {
                let share = f64::from(byte) / 255.0;
                if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * linear(colour.0) + 0.7152 * linear(colour.1) + 0.0722 * linear(colour.2)
        };
        for palette in [Palette::LIGHT, Palette::DARK] {
            for ground in [palette.ink, palette.accent] {
                let (text, ground) = (luminance(palette.panel) + 0.05, luminance(ground) + 0.05);
                assert!(text.max(ground) / text.min(ground) >= 4.5);
            }
        }
    }
}
