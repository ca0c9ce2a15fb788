//! Charts as SVG, compared with snapshots, and their colours compared with the page's style sheet.
#![cfg(feature = "chart")]

use plotters::style::RGBColor;
use rooflight::chart::{
    Axis, Band, Bar, Bars, Chart, ChartUnit, Curves, KernelPoint, Line, Palette, Panel, Roof, Roofline,
    Theme, Tone, Zoom, summary,
};
use rooflight::graph::Phase;
use rooflight::latency::Resource;
use rooflight::units::{BytesPerSecond, FlopsPerSecond};

fn point(phase: Phase, name: &'static str, intensity: f64, tflops: (f64, f64), share: f64) -> KernelPoint {
    let (reached, ceiling) = tflops;
    let limit = if intensity > 295.0 { Resource::Compute } else { Resource::Memory };
    let rate = |tera: f64| FlopsPerSecond(tera * 1e12);
    KernelPoint {
        id: String::new(),
        phase,
        name: name.into(),
        intensity,
        reached: rate(reached),
        ceiling: rate(ceiling),
        share,
        limit,
    }
}

/// An H100 SXM by its data sheet, and kernels as a dense model of 8 billion parameters has them.
fn h100(points: Vec<KernelPoint>) -> Roofline {
    let roof = |name: &str, tera: f64, used| Roof {
        name: name.to_string(),
        peak: FlopsPerSecond(tera * 1e12),
        used,
    };
    Roofline {
        gpu: "H100 SXM".into(),
        bandwidth: BytesPerSecond(3.35e12),
        l2: Some(BytesPerSecond(5.647e12)),
        roofs: vec![roof("BF16", 989.0, true), roof("FP8", 1979.0, false)],
        points,
        ..Roofline::default()
    }
}

fn kernels() -> Vec<KernelPoint> {
    vec![
        point(Phase::Prefill, "gate_up_proj", 964.0, (712.0, 940.0), 0.50),
        point(Phase::Decode, "gate_up_proj", 16.0, (45.0, 53.6), 0.41),
        point(Phase::Prefill, "down_proj", 1024.0, (655.0, 860.0), 0.25),
        point(Phase::Decode, "down_proj", 16.0, (41.0, 53.6), 0.20),
        point(Phase::Decode, "attention_decode", 4.0, (9.1, 13.4), 0.15),
        point(Phase::Prefill, "attention_prefill", 512.0, (380.0, 610.0), 0.06),
        point(Phase::Prefill, "lm_head", 1.0, (2.9, 3.35), 0.02),
    ]
}

fn svg(chart: &Roofline, size: (u32, u32), theme: Theme) -> String {
    svg_of(&Chart::Roofline(chart.clone()), size, theme)
}

fn svg_of(chart: &Chart, size: (u32, u32), theme: Theme) -> String {
    rooflight::chart::svg(chart, &[], size, theme).unwrap()
}

#[test]
fn wide_and_light() {
    let theme = Theme::new(Palette::LIGHT, 1.0);
    insta::assert_snapshot!("roofline_light", svg(&h100(kernels()), (960, 416), theme));
}

#[test]
fn narrow_dark_and_dense() {
    let theme = Theme::new(Palette::DARK, 2.0);
    insta::assert_snapshot!("roofline_phone_dark", svg(&h100(kernels()), (700, 640), theme));
}

#[test]
fn without_kernels_the_roofs_stand() {
    let theme = Theme::new(Palette::LIGHT, 1.0);
    insta::assert_snapshot!("roofline_empty", svg(&h100(Vec::new()), (640, 320), theme));
}

#[test]
fn zooming_in_leaves_what_is_in_view() {
    let theme = Theme::new(Palette::LIGHT, 1.0);
    let size = (960, 416);
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let of = |zoom| Chart::Roofline(h100(kernels())).zoomed(zoom).readings((width, height), theme).len();
    let whole = of(Zoom::default());
    let corner = Zoom::default().by(4.0, (0.5, 0.5)).moved((-2.0, -2.0));
    let at_ridge = Zoom::default().by(4.0, (0.5, 0.5)).moved((1.2, 1.2));
    assert!(of(at_ridge) < whole && of(at_ridge) + of(corner) > 0);
    for zoom in [
        corner,
        at_ridge,
        Zoom::default().by(4.0, (0.5, 0.5)).moved((2.0, -2.0)),
        Zoom::default().by(9.0, (0.5, 0.5)).moved((-9.0, 9.0)),
    ] {
        let picture = svg_of(&Chart::Roofline(h100(kernels())).zoomed(zoom), size, theme);
        assert!(picture.contains("FLOP/s"), "{zoom:?}");
    }
}

/// Latency with its spread and a limit, then throughput, over clients.
fn curves() -> Chart {
    let x: Vec<f64> = (0..7).map(|power| f64::from(1 << power)).collect();
    let scaled = |factor: f64| -> Vec<f64> { x.iter().map(|load| factor * (1.0 + load / 20.0)).collect() };
    let line = |name: &str, tone, y: Vec<f64>| Line::marked(name, tone, x.iter().copied().zip(y));
    let axis = Axis::new;
    let times = Panel {
        y: axis("TTFT: mean, P50 to P99", ChartUnit::Seconds, true),
        bands: vec![Band { x: x.clone(), low: scaled(0.04), high: scaled(0.09) }],
        lines: vec![line("", Tone::Accent, scaled(0.05))],
        limit: Some(0.1),
    };
    let rates = Panel {
        y: axis("Output, tok/s", ChartUnit::Count, false),
        lines: vec![
            line("reached", Tone::Accent, x.iter().map(|load| 150.0 * load).collect()),
            line("ideal", Tone::Ink, x.iter().map(|load| 190.0 * load).collect()),
        ],
        ..Panel::default()
    };
    Chart::Curves(Curves {
        x: axis("Clients", ChartUnit::Count, true),
        panels: vec![times, rates],
        mark: Some(16.0),
    })
}

#[test]
fn curves_stand_side_by_side() {
    let theme = Theme::new(Palette::LIGHT, 1.0);
    insta::assert_snapshot!("curves_light", svg_of(&curves(), (960, 224), theme));
}

#[test]
fn curves_stand_above_each_other_on_a_phone() {
    let theme = Theme::new(Palette::DARK, 2.0);
    insta::assert_snapshot!("curves_phone_dark", svg_of(&curves(), (700, 768), theme));
}

#[test]
fn bars_name_their_parts_and_end_with_their_sum() {
    let bar = |name: &str, parts: [f64; 3]| Bar { name: name.into(), parts: parts.into() };
    let legend = ["Textbook roofline", "Tiles and waves", "Beyond both"].map(str::to_owned).into();
    let bars = vec![
        bar("gate_up_proj", [17.4e-3, 4.1e-3, 1.4e-3]),
        bar("a_kernel_whose_name_is_far_too_long_for_its_place", [8.7e-3, 0.0, 3.8e-3]),
        bar("silu_and_mul", [0.5e-3, 0.0, 2.1e-3]),
        bar("nothing", [0.0; 3]),
    ];
    let chart = Chart::Bars(Bars { unit: ChartUnit::Seconds, legend, bars, ..Bars::default() });
    let theme = Theme::new(Palette::LIGHT, 1.0);
    insta::assert_snapshot!("bars_light", svg_of(&chart, (640, 152), theme));
    let empty = svg_of(&Chart::Bars(Bars::default()), (640, 60), theme);
    assert!(!empty.contains("NaN"), "{empty}");
}

#[test]
fn every_point_is_read_where_it_is_drawn() {
    let theme = Theme::new(Palette::LIGHT, 2.0);
    let bars = Bars {
        unit: ChartUnit::Seconds,
        legend: vec!["a".into(), "b".into()],
        bars: vec![
            Bar { name: "one".into(), parts: vec![1e-3, 0.0] },
            Bar { name: "two".into(), parts: vec![1e-3, 2e-3] },
        ],
        ..Bars::default()
    };
    let charts = [Chart::Roofline(h100(kernels())), curves(), Chart::Bars(bars)];
    let (points, parts) = (kernels().len(), 3);
    for (chart, count) in charts.iter().zip([points, 3 * 7, parts]) {
        let readings = chart.readings((1200.0, 500.0), theme);
        assert_eq!(readings.len(), count);
        for reading in &readings {
            assert!((0.0..=1200.0).contains(&reading.x) && (0.0..=500.0).contains(&reading.y), "{reading:?}");
            assert!(!reading.text.is_empty());
        }
        assert_eq!(chart.readings((20.0, 10.0), theme), [], "no room, nothing to read");
    }
    let first = |chart: &Chart| chart.readings((1200.0, 500.0), theme)[0].text.replace('\u{a0}', " ");
    let texts: Vec<String> = charts.iter().map(first).collect();
    let wanted = "gate_up_proj, prefill: 712 TFLOP/s at 964 FLOP/B, 76 % of its ceiling, 50 % of the step";
    assert_eq!(texts[0], wanted);
    assert_eq!(texts[1], "TTFT: 52.5 ms; Clients 1");
    assert_eq!(texts[2], "one, a: 1.00 ms");
}

#[test]
fn loose_points_are_not_joined() {
    let dots =
        Line { x: vec![1.0, 3.0, 2.0], y: vec![1.0, 2.0, 3.0], marked: true, loose: true, ..Line::default() };
    let chart = |line: Line| {
        Chart::Curves(Curves {
            panels: vec![Panel { lines: vec![line], ..Panel::default() }],
            ..Curves::default()
        })
    };
    let theme = Theme::new(Palette::LIGHT, 1.0);
    let lines = |chart: Chart| svg_of(&chart, (400, 200), theme).matches("<polyline").count();
    let joined = Line { loose: false, ..dots.clone() };
    assert_eq!(lines(chart(joined)), lines(chart(dots)) + 1);
}

#[test]
fn curves_without_points_leave_their_axes() {
    let panel =
        Panel { y: Axis { name: "TPOT".into(), unit: ChartUnit::Seconds, log: true }, ..Panel::default() };
    let chart = Chart::Curves(Curves { panels: vec![panel], ..Curves::default() });
    let text = svg_of(&chart, (400, 200), Theme::new(Palette::LIGHT, 1.0));
    assert!(text.contains("TPOT") && !text.contains("NaN"), "{text}");
}

#[test]
fn a_canvas_without_room_is_left_blank() {
    let theme = Theme::new(Palette::LIGHT, 1.0);
    let text = svg(&h100(kernels()), (40, 20), theme);
    assert!(!text.contains("<text"), "{text}");
}

#[test]
fn a_phone_gets_fewer_labels_than_a_desktop() {
    let labels = |width: u32| {
        let text = svg(&h100(kernels()), (width, 400), Theme::new(Palette::LIGHT, 1.0));
        text.matches("_proj").count() + text.matches("attention_").count()
    };
    assert!(labels(360) < labels(1000), "{} and {}", labels(360), labels(1000));
    assert!(labels(360) >= 1);
}

#[test]
fn the_summary_names_roofs_and_largest_kernels() {
    assert_eq!(
        summary(&h100(kernels())).replace('\u{a0}', " "),
        "Roofline of H100 SXM: memory bandwidth 3.35 TB/s, dense BF16 peak 989 TFLOP/s, ridge point 295 FLOP/B. \
         Prefill: the largest kernel, gate_up_proj, takes 50 % of the time and reaches 712 TFLOP/s at 964 FLOP/B \
         (compute-bound). \
         Decode: the largest kernel, gate_up_proj, takes 41 % of the time and reaches 45.0 TFLOP/s at 16 FLOP/B \
         (memory-bound)."
    );
}

/// `--name: light-dark(#light, #dark);` of the page's tokens is the chart's colour of that name.
#[test]
fn the_style_sheet_has_the_same_colours() {
    let css = include_str!("../static/style/tokens.css");
    let hex = |RGBColor(r, g, b): RGBColor| format!("#{r:02x}{g:02x}{b:02x}");
    for ((name, light), (_, dark)) in Palette::LIGHT.tokens().into_iter().zip(Palette::DARK.tokens()) {
        let rule = format!("--{name}: light-dark({}, {});", hex(light), hex(dark));
        assert!(css.contains(&rule), "tokens.css lacks `{rule}`");
    }
}
