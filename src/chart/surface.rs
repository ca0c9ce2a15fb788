//! A single drawing surface type for all plotters backends. Generic drawing code would be compiled, and downloaded,
//! twice: for the screen and for files.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::style::text_anchor::Pos;
use plotters::style::{FontFamily, FontStyle, FontTransform};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::Theme;

/// The area that a chart, or a part of it, is drawn on.
pub type Sheet<'a> = DrawingArea<Surface<'a>, Shift>;
pub type DrawResult<T = ()> = Result<T, DrawingAreaErrorKind<DrawError>>;

/// A backend's error, in its words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DrawError(String);

type BackendResult = Result<(), DrawingErrorKind<DrawError>>;

/// A type-erased backend.
pub struct Surface<'a>(Box<dyn Primitives + 'a>);

/// All of `backend`, as a drawing area.
pub fn sheet<'a>(backend: impl DrawingBackend + 'a) -> Sheet<'a> {
    Surface(Box::new(backend)).into_drawing_area()
}

/// Colour and width of a line, or the colour of a filled shape.
#[derive(Clone, Copy)]
struct Stroke {
    color: BackendColor,
    width: u32,
}

impl Stroke {
    fn of(style: &impl BackendStyle) -> Self {
        Self { color: style.color(), width: style.stroke_width() }
    }
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        self.color
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

/// The look of a text.
struct Lettering<'a> {
    color: BackendColor,
    size: f64,
    transform: FontTransform,
    style: FontStyle,
    anchor: Pos,
    family: FontFamily<'a>,
}

impl BackendTextStyle for Lettering<'_> {
    type FontError = DrawError;

    fn color(&self) -> BackendColor {
        self.color
    }

    fn size(&self) -> f64 {
        self.size
    }

    fn transform(&self) -> FontTransform {
        self.transform.clone()
    }

    fn style(&self) -> FontStyle {
        self.style
    }

    fn anchor(&self) -> Pos {
        self.anchor
    }

    fn family(&self) -> FontFamily<'_> {
        self.family
    }

    fn layout_box(&self, text: &str) -> Result<((i32, i32), (i32, i32)), DrawError> {
        let width = text.chars().count() as f64 * self.size * Theme::ADVANCE;
        Ok(((0, 0), (width.ceil() as i32, self.size.ceil() as i32)))
    }

    fn draw<E, F: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _: &str,
        _: BackendCoord,
        _: F,
    ) -> Result<Result<(), E>, DrawError> {
        Err(DrawError("text needs a backend with fonts of its own".into()))
    }
}

/// The backend's drawing operations without type parameters.
trait Primitives {
    fn size(&self) -> (u32, u32);
    fn prepare(&mut self) -> BackendResult;
    fn show(&mut self) -> BackendResult;
    fn pixel(&mut self, at: BackendCoord, color: BackendColor) -> BackendResult;
    fn line(&mut self, from: BackendCoord, to: BackendCoord, style: Stroke) -> BackendResult;
    fn rectangle(&mut self, corners: [BackendCoord; 2], style: Stroke, fill: bool) -> BackendResult;
    fn path(&mut self, points: Vec<BackendCoord>, style: Stroke) -> BackendResult;
    fn circle(&mut self, center: BackendCoord, radius: u32, style: Stroke, fill: bool) -> BackendResult;
    fn polygon(&mut self, corners: Vec<BackendCoord>, style: Stroke) -> BackendResult;
    fn text(&mut self, text: &str, style: &Lettering<'_>, at: BackendCoord) -> BackendResult;
}

fn in_words(error: impl ToString) -> DrawingErrorKind<DrawError> {
    DrawingErrorKind::DrawingError(DrawError(error.to_string()))
}

impl<B: DrawingBackend> Primitives for B {
    fn size(&self) -> (u32, u32) {
        self.get_size()
    }

    fn prepare(&mut self) -> BackendResult {
        self.ensure_prepared().map_err(in_words)
    }

    fn show(&mut self) -> BackendResult {
        self.present().map_err(in_words)
    }

    fn pixel(&mut self, at: BackendCoord, color: BackendColor) -> BackendResult {
        self.draw_pixel(at, color).map_err(in_words)
    }

    fn line(&mut self, from: BackendCoord, to: BackendCoord, style: Stroke) -> BackendResult {
        self.draw_line(from, to, &style).map_err(in_words)
    }

    fn rectangle(&mut self, [from, to]: [BackendCoord; 2], style: Stroke, fill: bool) -> BackendResult {
        self.draw_rect(from, to, &style, fill).map_err(in_words)
    }

    fn path(&mut self, points: Vec<BackendCoord>, style: Stroke) -> BackendResult {
        self.draw_path(points, &style).map_err(in_words)
    }

    fn circle(&mut self, center: BackendCoord, radius: u32, style: Stroke, fill: bool) -> BackendResult {
        self.draw_circle(center, radius, &style, fill).map_err(in_words)
    }

    fn polygon(&mut self, corners: Vec<BackendCoord>, style: Stroke) -> BackendResult {
        self.fill_polygon(corners, &style).map_err(in_words)
    }

    fn text(&mut self, text: &str, style: &Lettering<'_>, at: BackendCoord) -> BackendResult {
        self.draw_text(text, style, at).map_err(in_words)
    }
}

impl DrawingBackend for Surface<'_> {
    type ErrorType = DrawError;

    fn get_size(&self) -> (u32, u32) {
        self.0.size()
    }

    fn ensure_prepared(&mut self) -> BackendResult {
        self.0.prepare()
    }

    fn present(&mut self) -> BackendResult {
        self.0.show()
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> BackendResult {
        self.0.pixel(at, color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> BackendResult {
        self.0.line(from, to, Stroke::of(style))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> BackendResult {
        self.0.rectangle([from, to], Stroke::of(style), fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> BackendResult {
        self.0.path(path.into_iter().collect(), Stroke::of(style))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        at: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> BackendResult {
        self.0.circle(at, radius, Stroke::of(style), fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> BackendResult {
        self.0.polygon(corners.into_iter().collect(), Stroke::of(style))
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> BackendResult {
        let lettering = Lettering {
            color: style.color(),
            size: style.size(),
            transform: style.transform(),
            style: style.style(),
            anchor: style.anchor(),
            family: style.family(),
        };
        self.0.text(text, &lettering, at)
    }
}
