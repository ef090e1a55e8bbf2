//! Plots as SVG inside a page: no script, nothing from elsewhere, the same bytes
//! for the same counts.

use minijinja::HtmlEscape;
use serde::Serialize;
use tollgate_measure::{Plot, PlotLine, PlotPoint};

use super::text::clean;

/// The size of the drawing and where the axes are, in its own units.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 622.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 236.0;
/// Where the legend begins, and how far its lines are apart.
const LEGEND: f64 = 292.0;
const LEGEND_LINE: f64 = 20.0;
/// Steps of the vertical axis, at most.
const STEPS: f64 = 5.0;
/// From which spread on the horizontal axis is logarithmic.
const LOGARITHMIC: f64 = 8.0;
/// The styles of lines that the page knows (`templates/style.css`).
const STYLES: usize = 8;

/// A plot and what stands above it.
#[derive(Serialize)]
pub(super) struct Drawn {
    caption: String,
    svg: String,
}

/// Each plot with its caption.
pub(super) fn draw_all(plots: &[Plot]) -> Vec<Drawn> {
    plots.iter().map(draw).collect()
}

fn draw(plot: &Plot) -> Drawn {
    let caption = format!(
        "{}: {} per {}, by {}",
        plot.workload,
        quantities(plot),
        plot.per,
        plot.parameter
    );
    Drawn {
        caption: clean(&caption),
        svg: svg(plot),
    }
}

fn quantities(plot: &Plot) -> String {
    let names = plot.quantities.iter().map(|quantity| quantity.name());
    names.collect::<Vec<_>>().join(", ")
}

/// Maps values to places on the drawing.
struct Scale {
    least: f64,
    most: f64,
    logarithmic: bool,
    /// What the vertical axis ends with; it begins with 0.
    top: f64,
}

impl Scale {
    fn of(plot: &Plot) -> Self {
        let points = || plot.lines.iter().flat_map(|line| &line.points);
        let least = points()
            .map(|point| float(point.x))
            .fold(f64::MAX, f64::min);
        let most = points()
            .map(|point| float(point.x))
            .fold(f64::MIN, f64::max);
        let highest = points().map(|point| point.y.value()).fold(0.0, f64::max);
        // Nothing but zeros still needs an axis.
        let highest = if highest > 0.0 { highest } else { 1.0 };
        Self {
            least,
            most,
            logarithmic: least >= 1.0 && most / least >= LOGARITHMIC,
            top: (highest / step(highest)).ceil() * step(highest),
        }
    }

    fn x(&self, value: f64) -> f64 {
        let (from, to, at) = if self.logarithmic {
            (self.least.ln(), self.most.ln(), value.ln())
        } else {
            (self.least, self.most, value)
        };
        let share = if to > from {
            (at - from) / (to - from)
        } else {
            0.5
        };
        LEFT + share * (RIGHT - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - value / self.top * (BOTTOM - TOP)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place on a drawing")]
fn float(value: i64) -> f64 {
    value as f64
}

/// The distance of two marks: 1, 2 or 5 by a power of ten, so that there are at
/// most [`STEPS`] up to `highest`.
fn step(highest: f64) -> f64 {
    let least = (highest / STEPS).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|one| one * power);
    let found = steps.into_iter().find(|step| *step >= least * 0.999_999);
    found.unwrap_or(10.0 * power)
}

fn svg(plot: &Plot) -> String {
    let scale = Scale::of(plot);
    let height = LEGEND + LEGEND_LINE * legend_lines(plot);
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escaped(&format!("{} by {}", quantities(plot), plot.parameter))
    );
    marks_of_y(&scale, &mut out);
    marks_of_x(plot, &scale, &mut out);
    for (index, line) in plot.lines.iter().enumerate() {
        draw_line(line, index % STYLES, &scale, &mut out);
    }
    for (row, (index, line)) in (0_u32..).zip(plot.lines.iter().enumerate()) {
        legend(line, index % STYLES, f64::from(row), &mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn legend_lines(plot: &Plot) -> f64 {
    f64::from(u32::try_from(plot.lines.len()).unwrap_or(u32::MAX))
}

fn marks_of_y(scale: &Scale, out: &mut String) {
    let step = step(scale.top);
    let count = (scale.top / step).round();
    let mut at = 0.0;
    while at <= count {
        let value = at * step;
        let y = scale.y(value);
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\"/>\
             <text class=\"mark end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            LEFT - 8.0,
            y + 4.0,
            grouped(value)
        ));
        at += 1.0;
    }
}

/// A mark at each value that was measured, and the parameter's name below.
fn marks_of_x(plot: &Plot, scale: &Scale, out: &mut String) {
    let points = plot.lines.iter().flat_map(|line| &line.points);
    let mut values: Vec<i64> = points.map(|point| point.x).collect();
    values.sort_unstable();
    values.dedup();
    let mut last = f64::MIN;
    for value in values {
        let x = scale.x(float(value));
        // A mark that would cover the one before has a tick only.
        let text = if x - last < 34.0 {
            String::new()
        } else {
            value.to_string()
        };
        if !text.is_empty() {
            last = x;
        }
        out.push_str(&format!(
            "<line class=\"tick\" x1=\"{x:.1}\" y1=\"{BOTTOM}\" x2=\"{x:.1}\" y2=\"{:.1}\"/>\
             <text class=\"mark middle\" x=\"{x:.1}\" y=\"{:.1}\">{text}</text>\n",
            BOTTOM + 5.0,
            BOTTOM + 19.0,
        ));
    }
    let scale = if scale.logarithmic {
        " (logarithmic)"
    } else {
        ""
    };
    out.push_str(&format!(
        "<text class=\"mark middle\" x=\"{:.1}\" y=\"{:.1}\">{}{scale}</text>\n",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 38.0,
        escaped(&plot.parameter)
    ));
}

fn draw_line(line: &PlotLine, style: usize, scale: &Scale, out: &mut String) {
    let at = |point: &PlotPoint| (scale.x(float(point.x)), scale.y(point.y.value()));
    let places = line.points.iter().map(|point| {
        let (x, y) = at(point);
        format!("{x:.1},{y:.1}")
    });
    let places: Vec<String> = places.collect();
    out.push_str(&format!(
        "<polyline class=\"line line-{style}\" points=\"{}\"/>\n",
        places.join(" ")
    ));
    for point in &line.points {
        let (x, y) = at(point);
        let median = if point.exact { "" } else { " (median)" };
        out.push_str(&format!(
            "<circle class=\"dot line-{style}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\">\
             <title>{}, {}: {}{median}</title></circle>\n",
            escaped(&line.name),
            point.x,
            point.y.decimal(2)
        ));
    }
}

fn legend(line: &PlotLine, style: usize, row: f64, out: &mut String) {
    let y = LEGEND + row * LEGEND_LINE;
    out.push_str(&format!(
        "<line class=\"line line-{style}\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\
         <text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        LEFT + 40.0,
        LEFT + 50.0,
        y + 4.0,
        escaped(&line.name)
    ));
}

/// A mark of the vertical axis, its thousands apart.
fn grouped(value: f64) -> String {
    if value.fract() != 0.0 {
        let text = format!("{value:.6}");
        return text.trim_end_matches('0').to_owned();
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn escaped(text: &str) -> String {
    HtmlEscape(&clean(text)).to_string()
}

#[cfg(test)]
mod tests {
    use tollgate_measure::{Quantity, Ratio};

    use super::*;

    fn line(name: &str, points: &[(i64, u64, bool)]) -> PlotLine {
        let point = |(x, y, exact): &(i64, u64, bool)| PlotPoint {
            x: *x,
            y: Ratio::new(*y, 10),
            exact: *exact,
        };
        PlotLine {
            name: name.into(),
            points: points.iter().map(point).collect(),
        }
    }

    fn plot(lines: Vec<PlotLine>) -> Plot {
        Plot {
            workload: "pipe_bulk <b>\u{202e}".into(),
            parameter: "kib".into(),
            quantities: vec![Quantity::Xsave, Quantity::Xrstor],
            per: "write".into(),
            lines,
        }
    }

    #[test]
    fn a_plot_as_svg() {
        let base = [(64, 19, true), (512, 68, true), (4096, 498, false)];
        let eager = [(64, 20, true), (512, 159, true), (4096, 1278, true)];
        let drawn = draw(&plot(vec![line("base", &base), line("eager & co", &eager)]));
        assert!(!drawn.caption.contains('\u{202e}'));
        insta::assert_snapshot!(format!("{}\n{}", drawn.caption, drawn.svg));
    }

    #[test]
    fn every_place_is_on_the_drawing() {
        let extremes = [
            vec![(i64::MIN, 0, true), (i64::MAX, u64::MAX, true)],
            vec![(5, 0, true)],
            vec![(0, 3, true), (1, 7, true), (2, 3, true)],
            vec![(1, 1, true), (1_000_000, 3, true)],
        ];
        for points in extremes {
            let text = svg(&plot(vec![line("a", &points)]));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            let places = text.split("points=\"").nth(1).unwrap();
            let places = places.split('"').next().unwrap();
            for place in places.split([' ', ',']) {
                let value: f64 = place.parse().unwrap();
                assert!((0.0..=WIDTH).contains(&value), "{place} in {places}");
            }
        }
        assert!(!svg(&plot(Vec::new())).contains("circle"));
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(
            [step(127.8), step(9_558_993.0), step(0.9)],
            [50.0, 2e6, 0.2]
        );
        assert_eq!(grouped(9_558_993.0), "9,558,993");
        assert_eq!(
            [grouped(0.0), grouped(0.4), grouped(200.0)],
            ["0", "0.4", "200"]
        );
    }
}
