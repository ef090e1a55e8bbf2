//! Plots as SVG inside a page: no script, nothing from elsewhere, the same bytes
//! for the same counts.

mod scale;

use minijinja::HtmlEscape;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use tollgate_defect::answer;
use tollgate_measure::{Plot, PlotLine, PlotPoint};

use crate::document::{Cell, Kind, Plots, Table};
use crate::text::{clean, shorten};
use scale::{Scales, float, written};

/// The size of the drawing and where the axes are, in its own units.
const WIDTH: f64 = 380.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 366.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 220.0;
/// Where the name of the vertical axis stands.
const NAME_OF_Y: f64 = 16.0;
/// Where the legend begins, and how far its lines are apart.
const LEGEND: f64 = 284.0;
const LEGEND_LINE: f64 = 22.0;
/// How wide a digit is at most, in the size that the page gives to text here.
const DIGIT: f64 = 9.0;
/// Names longer than this are cut, in characters: the drawing is no wider.
const NAME: usize = 34;
/// What is said of an axis.
const LOGARITHMIC: &str = " (logarithmic)";
/// The styles of lines that the page knows (`templates/style.css`), and how many
/// shapes of marks there are beside.
const STYLES: usize = 8;
const SHAPES: usize = 4;

/// The drawings, and the captions of those that would be level lines.
impl Serialize for Plots {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (flat, drawn): (Vec<_>, Vec<_>) = self.plots.iter().partition(|plot| plot.is_flat());
        let mut view = serializer.serialize_struct("Plots", 3)?;
        view.serialize_field("note", self.note)?;
        let drawn: Vec<Drawn> = drawn
            .into_iter()
            .map(|plot| draw(plot, &Scales::beside(plot, &self.plots)))
            .collect();
        view.serialize_field("plots", &drawn)?;
        let flat: Vec<String> = flat.into_iter().map(caption).collect();
        view.serialize_field("flat", &flat)?;
        view.end()
    }
}

impl Plots {
    /// The counts as tables, a row for each place on the horizontal axis; level lines
    /// are among them.
    pub(crate) fn tables(&self) -> Vec<(String, Table)> {
        self.plots
            .iter()
            .map(|plot| (caption(plot), table(plot)))
            .collect()
    }
}

fn table(plot: &Plot) -> Table {
    let mut table = Table::new(&[(&plot.parameter, Kind::Number)]);
    for (index, line) in plot.lines.iter().enumerate() {
        table.column(line.name.clone(), Kind::Number, index + 1);
    }
    for x in places(plot) {
        let of = |line: &PlotLine| {
            let point = line.points.iter().find(|point| point.x == x);
            point.map_or_else(Cell::default, |point| {
                Cell::from(point.y.decimal(2)).tagged("median", !point.exact)
            })
        };
        let cells = plot.lines.iter().map(of);
        table.row(std::iter::once(Cell::from(x.to_string())).chain(cells));
    }
    table
}

/// The values of the parameter, rising.
fn places(plot: &Plot) -> Vec<i64> {
    let points = plot.lines.iter().flat_map(|line| &line.points);
    let mut values: Vec<i64> = points.map(|point| point.x).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// A plot and what stands above it.
#[derive(serde::Serialize)]
struct Drawn {
    caption: String,
    svg: String,
}

fn draw(plot: &Plot, scales: &Scales) -> Drawn {
    Drawn {
        caption: caption(plot),
        svg: svg(plot, scales),
    }
}

fn caption(plot: &Plot) -> String {
    let (workload, parameter) = (&plot.workload, &plot.parameter);
    clean(&format!("{workload}: {}, by {parameter}", counted(plot)))
}

/// What the vertical axis is, with its unit.
fn counted(plot: &Plot) -> String {
    let names = plot.quantities.iter().map(|quantity| quantity.name());
    let names = names.collect::<Vec<_>>().join(", ");
    format!("{names} per {}", plot.per)
}

/// Where a point is on the drawing.
fn place(point: &PlotPoint, scales: &Scales) -> (f64, f64) {
    (x(float(point.x), scales), y(point.y.value(), scales))
}

fn x(value: f64, scales: &Scales) -> f64 {
    LEFT + scales.x.share(value) * (RIGHT - LEFT)
}

fn y(value: f64, scales: &Scales) -> f64 {
    BOTTOM - scales.y.share(value) * (BOTTOM - TOP)
}

/// The style and the shape of the marks of a line; those that share a style have
/// other shapes.
struct Look {
    style: usize,
    shape: usize,
}

impl Look {
    fn of(index: usize) -> Self {
        Self {
            style: index % STYLES,
            shape: (index + index / STYLES) % SHAPES,
        }
    }
}

fn svg(plot: &Plot, scales: &Scales) -> String {
    // One line needs no legend: the caption names it.
    let legend: &[PlotLine] = match plot.lines.as_slice() {
        [_] => &[],
        lines => lines,
    };
    let rows = answer::fits::<u32, _>(legend.len()).unwrap_or(u32::MAX);
    let height = LEGEND - LEGEND_LINE / 2.0 + LEGEND_LINE * f64::from(rows);
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
        escaped(&caption(plot)),
        escaped(&described(plot))
    );
    marks_of_y(plot, scales, &mut out);
    marks_of_x(plot, scales, &mut out);
    for (index, line) in plot.lines.iter().enumerate() {
        draw_line(line, &Look::of(index), scales, &mut out);
    }
    for (row, (index, line)) in (0_u32..).zip(legend.iter().enumerate()) {
        draw_legend(line, &Look::of(index), f64::from(row), &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// The counts in words, for whoever does not see them.
fn described(plot: &Plot) -> String {
    let point = |point: &PlotPoint| format!("{} at {}", count(point), point.x);
    let line = |line: &PlotLine| {
        let points: Vec<String> = line.points.iter().map(point).collect();
        format!("{}: {}.", line.name, points.join(", "))
    };
    plot.lines.iter().map(line).collect::<Vec<_>>().join(" ")
}

fn count(point: &PlotPoint) -> String {
    let median = if point.exact { "" } else { " (median)" };
    format!("{}{median}", point.y.decimal(2))
}

/// An axis's name, and that it is logarithmic where it is: in full where there is room.
fn axis(name: &str, logarithmic: bool) -> String {
    let room = |kind: &str| NAME + LOGARITHMIC.len() - kind.len();
    let kind = match logarithmic {
        true if name.chars().count() <= room(LOGARITHMIC) => LOGARITHMIC,
        true => " (log)",
        false => "",
    };
    escaped(&format!("{}{kind}", shorten(name, room(kind))))
}

fn marks_of_y(plot: &Plot, scales: &Scales, out: &mut String) {
    out.push_str(&format!(
        "<text class=\"mark\" x=\"4\" y=\"{NAME_OF_Y}\">{}</text>\n",
        axis(&counted(plot), scales.y.logarithmic)
    ));
    for value in scales.y.marks() {
        let y = y(value, scales);
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\"/>\
             <text class=\"mark end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            LEFT - 8.0,
            y + 5.0,
            written(value)
        ));
    }
    out.push_str(&format!(
        "<line class=\"tick\" x1=\"{LEFT}\" y1=\"{BOTTOM}\" x2=\"{RIGHT}\" y2=\"{BOTTOM}\"/>\n"
    ));
}

/// A mark at each value that was measured, and the parameter's name below.
fn marks_of_x(plot: &Plot, scales: &Scales, out: &mut String) {
    for mark in marked(&places(plot), scales) {
        let Mark { tick, text, label } = mark;
        out.push_str(&format!(
            "<line class=\"tick\" x1=\"{tick:.1}\" y1=\"{BOTTOM}\" x2=\"{tick:.1}\" y2=\"{:.1}\"/>",
            BOTTOM + 5.0,
        ));
        if let Some(label) = label {
            out.push_str(&format!(
                "<text class=\"mark middle\" x=\"{text:.1}\" y=\"{:.1}\">{label}</text>",
                BOTTOM + 21.0
            ));
        }
        out.push('\n');
    }
    out.push_str(&format!(
        "<text class=\"mark middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 42.0,
        axis(&plot.parameter, scales.x.logarithmic)
    ));
}

/// A mark of the horizontal axis; without a label where that would cover another.
struct Mark {
    tick: f64,
    /// The middle of the label, which stays on the drawing.
    text: f64,
    label: Option<String>,
}

/// The first and the last have labels, of the others those that have room.
fn marked(values: &[i64], scales: &Scales) -> Vec<Mark> {
    let of = |value: &i64| {
        let label = value.to_string();
        let half = (0..label.len()).fold(0.0, |sum, _| sum + DIGIT / 2.0);
        let tick = x(float(*value), scales);
        let text = tick.clamp(half, WIDTH - half);
        (tick, text, half, label)
    };
    let last = values.last().map(of);
    let (end, mut taken) = match &last {
        Some((_, text, half, _)) => (text - half - DIGIT, 0.0),
        None => (WIDTH, 0.0),
    };
    let mut marks = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let (tick, text, half, label) = of(value);
        let is_last = index + 1 == values.len();
        let room = text - half >= taken && (is_last || text + half <= end);
        let shown = room || is_last && index == 0;
        if shown {
            taken = text + half + DIGIT;
        }
        marks.push(Mark {
            tick,
            text,
            label: shown.then_some(label),
        });
    }
    marks
}

fn draw_line(line: &PlotLine, look: &Look, scales: &Scales, out: &mut String) {
    let places = line.points.iter().map(|point| {
        let (x, y) = place(point, scales);
        format!("{x:.1},{y:.1}")
    });
    let places: Vec<String> = places.collect();
    out.push_str(&format!(
        "<polyline class=\"line line-{}\" points=\"{}\"/>\n",
        look.style,
        places.join(" ")
    ));
    for point in &line.points {
        let name = escaped(&line.name);
        let title = format!("<title>{name}, {}: {}</title>", point.x, count(point));
        out.push_str(&dot(place(point, scales), look, point.exact, &title));
        out.push('\n');
    }
}

/// A mark: filled where the count is exact, hollow where it is a median.
fn dot((x, y): (f64, f64), look: &Look, exact: bool, title: &str) -> String {
    let hollow = if exact { "" } else { " median" };
    let path = match look.shape {
        0 => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        1 => "m-3.6 -3.6h7.2v7.2h-7.2z",
        2 => "m0 -4.6l4.6 8h-9.2z",
        _ => "m0 -5l5 5l-5 5l-5 -5z",
    };
    let style = look.style;
    format!("<path class=\"dot line-{style}{hollow}\" d=\"M{x:.1} {y:.1}{path}\">{title}</path>")
}

fn draw_legend(line: &PlotLine, look: &Look, row: f64, out: &mut String) {
    let y = LEGEND + row * LEGEND_LINE;
    out.push_str(&format!(
        "<line class=\"line line-{}\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>{}\
         <text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        look.style,
        LEFT + 48.0,
        dot((LEFT + 24.0, y), look, true, ""),
        LEFT + 58.0,
        y + 5.0,
        escaped(&shorten(&line.name, NAME))
    ));
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

    fn drawn(plot: &Plot) -> Drawn {
        draw(plot, &Scales::beside(plot, std::slice::from_ref(plot)))
    }

    fn svg(plot: &Plot) -> String {
        drawn(plot).svg
    }

    #[test]
    fn a_plot_as_svg() {
        let base = [(64, 19, true), (512, 68, true), (4096, 498, false)];
        let eager = [(64, 20, true), (512, 159, true), (4096, 1278, true)];
        let drawn = drawn(&plot(vec![line("base", &base), line("eager & co", &eager)]));
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
        assert!(!svg(&plot(Vec::new())).contains("<path"));
    }

    /// Begin and end of each label of the horizontal axis.
    fn labels(values: &[i64]) -> Vec<(f64, f64)> {
        let points: Vec<_> = values.iter().map(|x| (*x, 1, true)).collect();
        let plot = plot(vec![line("a", &points)]);
        let scales = Scales::beside(&plot, std::slice::from_ref(&plot));
        let labels = marked(values, &scales).into_iter().filter_map(|mark| {
            let half = mark.label?.len() as f64 * DIGIT / 2.0;
            Some((mark.text - half, mark.text + half))
        });
        labels.collect()
    }

    /// The last label was cut off by the end of the drawing where it was long, and
    /// went missing where the one before it was near.
    #[test]
    fn labels_are_whole_and_apart_and_name_both_ends() {
        let many: Vec<i64> = (0..40).collect();
        let extremes: [&[i64]; 6] = [
            &[1, 8, 64, 1_000_000_000],
            &[i64::MIN, 0, i64::MAX],
            &[0, 4094, 4095, 4096],
            &[1, 1000, 1001],
            &[7],
            &many,
        ];
        for values in extremes {
            let labels = labels(values);
            assert!(labels.len() >= 2.min(values.len()), "{values:?}");
            assert!(labels.iter().all(|(from, to)| *from >= 0.0 && *to <= WIDTH));
            assert!(
                labels.windows(2).all(|two| two[0].1 < two[1].0),
                "{labels:?}"
            );
        }
    }

    /// A label before the last one goes where no space for a digit is left between
    /// them; the last one stays.
    #[test]
    fn a_label_near_the_last_leaves_room_or_goes() {
        let ends = labels(&[0, 1000]);
        let counts = (600..1000).map(|near| {
            let labels = labels(&[0, near, 1000]);
            assert_eq!(labels.last(), ends.last(), "{near}");
            let gap = |two: &[(f64, f64)]| two[1].0 - two[0].1;
            assert!(labels.windows(2).all(|two| gap(two) > DIGIT - 1e-6));
            labels.len()
        });
        let counts: Vec<usize> = counts.collect();
        assert!(counts.is_sorted_by(|a, b| a >= b));
        assert_eq!((counts.first(), counts.last()), (Some(&3), Some(&2)));
    }

    /// A long name was cut for a word that can be short.
    #[test]
    fn the_name_of_an_axis_is_whole_where_it_can_be() {
        let long = "kernel instructions per transaction";
        assert_eq!(axis(long, true), format!("{long} (log)"));
        assert_eq!(axis(long, false), long);
        assert_eq!(
            axis("fences per call", true),
            "fences per call (logarithmic)"
        );
        let all = [true, false].map(|kind| axis(&"x".repeat(99), kind));
        assert!(all.iter().all(|name| name.len() <= 48));
    }

    /// Two of three plots over one parameter had logarithmic axes, the third a linear
    /// one: the same slope meant another growth.
    #[test]
    fn plots_over_one_parameter_have_axes_of_one_kind() {
        let of = |points: &[(i64, u64, bool)]| plot(vec![line("a", points)]);
        let rising = of(&[(1, 10, true), (8, 80, true), (64, 640, true)]);
        let flat = of(&[(1, 90, true), (8, 92, true), (64, 91, true)]);
        let zeros = of(&[(1, 0, true), (8, 0, true), (64, 30, true)]);
        let kinds = |plots: &[Plot]| -> Vec<(bool, bool)> {
            let scales = plots.iter().map(|one| Scales::beside(one, plots));
            scales
                .map(|scales| (scales.x.logarithmic, scales.y.logarithmic))
                .collect()
        };
        let all = [rising.clone(), flat.clone(), zeros.clone()];
        assert_eq!(kinds(&all), [(true, true); 3]);
        assert_eq!(kinds(std::slice::from_ref(&flat)), [(true, false)]);
        let scales = Scales::beside(&rising, &all);
        let at = |value: f64| (x(value, &scales), y(value, &scales));
        let ((x1, y1), (x2, y2), (x3, y3)) = (at(1.0), at(8.0), at(64.0));
        assert!(((y2 - y1) / (x2 - x1) - (y3 - y2) / (x3 - x2)).abs() < 1e-9);
        let scales = Scales::beside(&zeros, &all);
        assert_eq!(scales.y.marks().first(), Some(&0.0));
        assert!(y(0.0, &scales) > y(3.0, &scales) + 10.0);
    }

    /// What a page of 400 px leaves to a drawing is nearly its own width, so that the
    /// words on it are as large as beside it.
    #[test]
    fn the_words_of_a_drawing_are_read_on_a_narrow_page() {
        let style = include_str!("../../templates/style.css");
        let (_, size) = style.split_once(".plot .mark {").unwrap();
        let (_, size) = size.split_once("font-size: ").unwrap();
        let size: f64 = size.split("px").next().unwrap().parse().unwrap();
        assert!(size * 340.0 / WIDTH >= 12.0);
    }

    #[test]
    fn lines_differ_without_colour() {
        let looks: Vec<_> = (0..STYLES * SHAPES).map(Look::of).collect();
        let mut both: Vec<_> = looks.iter().map(|one| (one.style, one.shape)).collect();
        both.sort_unstable();
        both.dedup();
        assert_eq!(both.len(), looks.len());
        let marks = looks
            .iter()
            .map(|look| dot((0.0, 0.0), &Look { style: 0, ..*look }, true, ""));
        assert_eq!(
            marks.collect::<std::collections::BTreeSet<_>>().len(),
            SHAPES
        );
        let style = include_str!("../../templates/style.css");
        for index in 1..STYLES {
            assert!(style.contains(&format!(".line.line-{index} {{ stroke-dasharray")));
        }
    }

    #[test]
    fn the_last_line_of_the_legend_is_inside() {
        let points = [(1, 2, true)];
        for names in [&["a"][..], &["a", "b"], &["a", "b", "c", "d", "e"]] {
            let lines = names.iter().map(|name| line(name, &points));
            let drawn = svg(&plot(lines.collect()));
            let height = drawn.split("viewBox=\"0 0 380 ").nth(1).unwrap();
            let height: f64 = height.split('"').next().unwrap().parse().unwrap();
            for place in drawn.split(" y=\"").skip(1) {
                let y: f64 = place.split('"').next().unwrap().parse().unwrap();
                assert!(y + 4.0 < height, "{y} of {height}");
            }
        }
    }

    #[test]
    fn a_level_line_is_named_and_not_drawn() {
        let level = Plot {
            quantities: vec![Quantity::Opens],
            ..plot(vec![line("a", &[(1, 10, true), (2, 10, true)])])
        };
        let rising = plot(vec![line("a", &[(1, 10, true), (2, 20, true)])]);
        let plots = Plots {
            note: "",
            plots: vec![level, rising],
        };
        let view = serde_json::to_value(&plots).unwrap();
        assert_eq!(view["plots"].as_array().unwrap().len(), 1);
        assert!(
            view["plots"][0]["caption"]
                .as_str()
                .unwrap()
                .contains("XSAVE")
        );
        assert_eq!(view["flat"].as_array().unwrap().len(), 1);
        let flat = view["flat"][0].as_str().unwrap();
        assert!(flat.contains("opens per write, by kib"));
        assert_eq!(plots.tables().len(), 2);
    }

    #[test]
    fn a_median_is_hollow() {
        let drawn = svg(&plot(vec![line("a", &[(1, 2, true), (2, 2, false)])]));
        assert_eq!(drawn.matches(" median\"").count(), 1);
        assert!(drawn.contains("0.20 (median) at 2"), "{drawn}");
    }
}
