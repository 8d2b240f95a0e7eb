use super::*;
use crate::canvas::palette::tests::theme;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingErrorKind};
use std::{cell::RefCell, convert::Infallible, rc::Rc};

type Rects = Rc<RefCell<Vec<(BackendCoord, BackendCoord, (u8, u8, u8))>>>;

/// Keeps what it is asked to draw.
struct Recorder {
    size: (u32, u32),
    rects: Rects,
}

impl DrawingBackend for Recorder {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_pixel(
        &mut self,
        _: BackendCoord,
        _: BackendColor,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        assert!(fill, "outlines would be blurred");
        self.rects.borrow_mut().push((a, b, style.color().rgb));
        Ok(())
    }
}

fn drawn(chart: &Chart, ratio: f64) -> Vec<(BackendCoord, BackendCoord, (u8, u8, u8))> {
    let rects = Rects::default();
    let size = (
        (chart.size.0 * ratio).round() as u32,
        (chart.size.1 * ratio).round() as u32,
    );
    let area = Recorder {
        size,
        rects: rects.clone(),
    }
    .into_drawing_area();
    draw(&area, chart, &theme(false), ratio).unwrap();
    drop(area);
    rects.take()
}

fn chart() -> Chart {
    Chart {
        size: (300.0, 100.0),
        at: Rect::new(20.0, 10.0, 200.0, 80.0),
        x: (0.0, 4.0),
        y: (-1.0, 3.0),
        levels: vec![0.0],
        bars: vec![
            Bar {
                x: (0.0, 1.0),
                y: (0.0, 2.0),
                ink: Ink::Plus,
            },
            Bar {
                x: (1.0, 2.0),
                y: (2.0, -1.0),
                ink: Ink::Minus,
            },
        ],
        ticks: vec![(3.0, 4.0, 3.0, Ink::Ink)],
    }
}

#[test]
fn bars_stand_where_their_values_are_at_every_ratio() {
    for ratio in [1.0, 1.25, 2.0, 3.0] {
        let rects = drawn(&chart(), ratio);
        let near = |got: i32, css: f64| {
            assert!(
                (f64::from(got) - css * ratio).abs() <= 1.5,
                "{got} for {css} at {ratio}"
            )
        };
        let (a, b, colour) = rects[1];
        assert_eq!(colour, {
            let [r, g, b] = theme(false).ink(Ink::Plus).0;
            (r, g, b)
        });
        near(a.0, 20.0);
        near(b.0, 70.0);
        near(a.1.min(b.1), 30.0);
        near(a.1.max(b.1), 70.0);
        let (a, b, _) = rects[2];
        near(a.0, 70.0);
        near(a.1.max(b.1), 90.0);
        assert_eq!(
            rects[1].1.0, rects[2].0.0,
            "neighbours share an edge at {ratio}"
        );
    }
}

#[test]
fn nothing_leaves_the_plot_and_nothing_panics() {
    let mut c = chart();
    c.bars = vec![
        Bar {
            x: (0.0, 4.0),
            y: (f64::NEG_INFINITY, f64::INFINITY),
            ink: Ink::Plus,
        },
        Bar {
            x: (0.0, 4.0),
            y: (-1e300, 1e300),
            ink: Ink::Plus,
        },
    ];
    for y in [(0.0, 0.0), (f64::NAN, 1.0), (-1e308, 1e308)] {
        c.y = y;
        for (a, b, _) in drawn(&c, 2.0) {
            for (x, y) in [a, b] {
                assert!(
                    (-4..=604).contains(&x) && (-4..=204).contains(&y),
                    "{x}, {y}"
                );
            }
        }
    }
}
