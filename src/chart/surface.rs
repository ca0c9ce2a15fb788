//! A single drawing surface type for all that charts are drawn on. Generic drawing code would be compiled, and
//! downloaded, twice: for the screen and for files.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::SVGBackend;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
#[cfg(feature = "ui")]
use plotters_canvas::CanvasBackend;

/// The area that a chart, or a part of it, is drawn on.
pub type Sheet<'a> = DrawingArea<Surface<'a>, Shift>;
pub type DrawResult<T = ()> = Result<T, DrawingAreaErrorKind<DrawError>>;

/// A backend's error, in its words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DrawError(String);

type BackendResult = Result<(), DrawingErrorKind<DrawError>>;

pub enum Surface<'a> {
    #[cfg(feature = "ui")]
    Canvas(CanvasBackend),
    Svg(SVGBackend<'a>),
}

impl<'a> Surface<'a> {
    /// The whole surface, as a drawing area.
    pub fn sheet(self) -> Sheet<'a> {
        self.into_drawing_area()
    }
}

fn in_words(error: impl ToString) -> DrawingErrorKind<DrawError> {
    DrawingErrorKind::DrawingError(DrawError(error.to_string()))
}

/// Makes one call on whichever backend the surface has.
macro_rules! on {
    ($surface:ident, $backend:ident => $call:expr) => {
        match $surface {
            #[cfg(feature = "ui")]
            Surface::Canvas($backend) => $call,
            Surface::Svg($backend) => $call,
        }
    };
}

impl DrawingBackend for Surface<'_> {
    type ErrorType = DrawError;

    fn get_size(&self) -> (u32, u32) {
        on!(self, backend => backend.get_size())
    }

    fn ensure_prepared(&mut self) -> BackendResult {
        on!(self, backend => backend.ensure_prepared().map_err(in_words))
    }

    fn present(&mut self) -> BackendResult {
        on!(self, backend => backend.present().map_err(in_words))
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> BackendResult {
        on!(self, backend => backend.draw_pixel(at, color).map_err(in_words))
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> BackendResult {
        on!(self, backend => backend.draw_line(from, to, style).map_err(in_words))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> BackendResult {
        on!(self, backend => backend.draw_rect(from, to, style, fill).map_err(in_words))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> BackendResult {
        on!(self, backend => backend.draw_path(path, style).map_err(in_words))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        at: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> BackendResult {
        on!(self, backend => backend.draw_circle(at, radius, style, fill).map_err(in_words))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> BackendResult {
        on!(self, backend => backend.fill_polygon(corners, style).map_err(in_words))
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> BackendResult {
        on!(self, backend => backend.draw_text(text, style, at).map_err(in_words))
    }
}
