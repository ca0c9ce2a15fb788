//! A chart as it is saved: a file is seen without the page around it, so it says what it shows.

use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::Pen;
use super::surface::{DrawResult, Sheet, Surface};
use super::{Chart, Theme, draw};

/// Height of a line of the caption, and the margin around all of them, in CSS pixels.
const LINE: f64 = Theme::TEXT * 1.4;
const MARGIN: f64 = 8.0;

/// The lines above a chart: the first names it, the others say what of.
#[derive(Debug, Clone, Default)]
pub struct Caption {
    lines: Vec<String>,
}

impl Caption {
    /// Wrapped to a picture of `width` CSS pixels.
    pub fn new(texts: &[&str], width: f64) -> Self {
        let mut lines = Vec::new();
        for text in texts.iter().filter(|text| !text.is_empty()) {
            let mut line = String::new();
            for word in text.split(' ') {
                let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
                if Theme::css_width(&longer) > width - 2.0 * MARGIN && !line.is_empty() {
                    lines.push(std::mem::replace(&mut line, word.to_owned()));
                } else {
                    line = longer;
                }
            }
            lines.push(line);
        }
        Self { lines }
    }

    /// In CSS pixels.
    pub fn height(&self) -> f64 {
        if self.lines.is_empty() { 0.0 } else { self.lines.len() as f64 * LINE + MARGIN }
    }

    /// Draws `chart` below the caption, over the whole of `area`.
    pub fn draw(&self, area: &Sheet<'_>, chart: &Chart, theme: Theme) -> DrawResult {
        if self.lines.is_empty() {
            return draw(area, chart, theme);
        }
        let (above, below) = area.split_vertically(theme.size(self.height()));
        above.fill(&theme.palette.panel)?;
        let pen = Pen { area: &above, theme };
        for (index, line) in self.lines.iter().enumerate() {
            let color = if index == 0 { theme.palette.ink } else { theme.palette.muted };
            let at = (theme.px(MARGIN), theme.px(MARGIN + index as f64 * LINE));
            pen.text(line, at, Pos::new(HPos::Left, VPos::Top), color)?;
        }
        draw(&below, chart, theme)
    }
}

/// The chart as an SVG picture; `size` is the chart's in CSS pixels, and the captions are above it.
pub fn svg(
    chart: &Chart,
    captions: &[&str],
    (width, height): (u32, u32),
    theme: Theme,
) -> Result<String, String> {
    let mut text = String::new();
    let caption = Caption::new(captions, f64::from(width));
    let size = (width, height + caption.height().round() as u32);
    let area = Surface::Svg(SVGBackend::with_string(&mut text, size)).sheet();
    caption.draw(&area, chart, theme).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_captions_are_wrapped_and_nothing_is_lost() {
        let text = "Llama-3.3-70B on 4 × H100 SXM, vLLM: 32 clients, 1024 in, 512 out";
        let narrow = Caption::new(&["Roofline chart", text, ""], 220.0);
        assert_eq!(narrow.lines[0], "Roofline chart");
        assert_eq!(narrow.lines[1..].join(" "), text);
        assert!(narrow.lines.len() > 3);
        assert_eq!(Caption::new(&["Roofline chart", text], 1440.0).lines.len(), 2);
        assert_eq!(Caption::default().height(), 0.0);
    }
}
