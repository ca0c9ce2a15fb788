//! The API's TypeScript types, generated from the Rust types and the table of inputs: the content of
//! `static/api/rooflight-types.d.ts`.

use std::any::TypeId;
use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use super::{Decoded, Encoded, EngineFacts, Failure, GpuFacts, ModelFacts, Options, Prediction};
use crate::config::inputs::{self, Input, InputKind};
use crate::config::{Field, Model};
use crate::find::{Answer, VARIES};

const HEAD: &str = "\
// Written from the Rust types: `ROOFLIGHT_WRITE=1 cargo test --lib api` renews it.
// Times are in seconds, data in bytes, rates per second, shares between 0 and 1.
";

/// Declarations of types and everything they refer to, once each. Sorted by name: the order of discovery varies
/// between builds.
struct Declared {
    config: Config,
    seen: Vec<TypeId>,
    texts: BTreeMap<String, String>,
}

impl TypeVisitor for Declared {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if self.seen.contains(&TypeId::of::<T>()) {
            return;
        }
        self.seen.push(TypeId::of::<T>());
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            let text = Lines::of(&format!("{docs}export {}", T::decl(&self.config)));
            self.texts.insert(T::name(&self.config), text);
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

/// A declaration with one line per field. ts-rs puts fields on one line, except for comments.
#[derive(Default)]
struct Lines {
    text: String,
    line: String,
    /// Nesting of braces in the line.
    depth: usize,
}

impl Lines {
    fn of(declaration: &str) -> String {
        let mut lines = Self::default();
        let mut rest = declaration;
        // Commas inside brackets of lists and tuples do not separate fields.
        let mut brackets = 0_usize;
        while let Some(next) = rest.chars().next() {
            if let Some(end) = rest.find("*/").filter(|_| rest.starts_with("/**")) {
                lines.comment(&rest[3..end]);
                rest = rest[end + 2..].trim_start();
                continue;
            }
            rest = &rest[next.len_utf8()..];
            match next {
                '{' => {
                    lines.line.push(next);
                    lines.end();
                    lines.depth += 1;
                    rest = rest.trim_start();
                }
                '}' => {
                    lines.end();
                    lines.depth -= 1;
                    lines.line.push(next);
                }
                ',' if lines.depth > 0 && brackets == 0 => {
                    lines.line.push(';');
                    lines.end();
                    rest = rest.trim_start();
                }
                _ => {
                    brackets += usize::from("[<".contains(next));
                    brackets -= usize::from("]>".contains(next));
                    lines.line.push(next);
                }
            }
        }
        lines.end();
        lines.text
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.trim().is_empty() {
            self.text += &format!("{}{}\n", "  ".repeat(self.depth), line.trim());
        }
    }

    fn comment(&mut self, content: &str) {
        self.end();
        let indent = "  ".repeat(self.depth);
        let lines = content.lines().map(|line| line.trim().trim_start_matches('*').trim());
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        self.text += &match lines.as_slice() {
            [line] => format!("{indent}/** {line} */\n"),
            lines => {
                format!("{indent}/**\n{indent} * {}\n{indent} */\n", lines.join(&format!("\n{indent} * ")))
            }
        };
    }
}

/// An input's type in JSON.
fn kind(input: &Input) -> &'static str {
    match input.kind() {
        InputKind::Id if input.field == Field::Model => "string | Model",
        InputKind::Id | InputKind::Histogram | InputKind::Packed | InputKind::Links | InputKind::Wishes => {
            "string"
        }
        InputKind::Measured => "string | Record<string, number>",
        InputKind::Whole | InputKind::Real => "number",
        InputKind::Format => "Dtype",
        InputKind::Lengths => "number | Array<number>",
    }
}

/// The JSON form of a scenario.
fn config() -> String {
    let mut fields = String::new();
    for input in inputs::in_links().filter(|input| input.in_json()) {
        fields += &format!("/** {} */ {}?: {}, ", input.help, input.field.id(), kind(input));
    }
    let docs = "/** A scenario. Defaults are in docs/links.md. */";
    Lines::of(&format!("{docs} export type Config = {{ {fields}}};"))
}

/// A plan request.
fn request() -> String {
    let varies = VARIES.map(|field| format!("{}?: \"all\" | Array<{}>, ", field.id(), kind(field.input())));
    let own = [
        (format!("{}?: {{ {}}}", Field::Vary.id(), varies.concat()), "Inputs with the values to try."),
        (
            format!("{}?: Record<string, number>", Field::Owned.id()),
            "GPUs owned, by id; no others are used, except those named in vary.",
        ),
        (format!("{}?: number", Field::BudgetGpus.id()), "Maximum GPUs in a plan."),
        (format!("{}?: number", Field::BudgetDollars.id()), "Maximum dollars per hour for a plan."),
        (
            format!(
                "{}?: PriceTerms | Record<string, number | PriceTerms | OwnHardware>",
                Field::Prices.id()
            ),
            "Dollars per GPU-hour, by id, instead of the catalog's; or the terms for all.",
        ),
        (format!("{}?: number", Field::Plans.id()), "How many of the best plans are shown; 5 if left out."),
    ];
    let fields = own.map(|(field, help)| format!("/** {help} */ {field}, "));
    let docs = "/** A load with its limits. `gpu`, `engine`, `tp`, `pp`, `dp`, `ep` and `gpus` are open where \
        neither the scenario nor `vary` names them. */";
    let price = "export type PriceTerms = \"on_demand\" | \"reserved\"; /** Cost of buying and running one GPU. */ \
        export type \
                 OwnHardware = { purchase_dollars: number, years: number, dollars_per_kwh: number, \
                 hosting_dollars_per_month: number, /** Its power limit if left out. */ watts?: number };";
    Lines::of(&format!("{price} {docs} export type PlanRequest = Config & {{ {}}};", fields.concat()))
}

fn types() -> String {
    // None of them exceeds what a double holds.
    let config = Config::new().with_large_int("number");
    let mut declared = Declared { config, seen: Vec::new(), texts: BTreeMap::new() };
    declared.visit::<Options>();
    declared.visit::<Prediction>();
    declared.visit::<Failure>();
    declared.visit::<Encoded>();
    declared.visit::<Decoded>();
    declared.visit::<ModelFacts>();
    declared.visit::<GpuFacts>();
    declared.visit::<EngineFacts>();
    declared.visit::<Model>();
    declared.visit::<Answer>();
    declared.texts.insert("Config".into(), self::config());
    declared.texts.insert("PlanRequest".into(), request());
    let texts: Vec<String> = declared.texts.into_values().collect();
    format!("{HEAD}\n{}", texts.join("\n"))
}

#[test]
fn the_typescript_types_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/static/api/rooflight-types.d.ts");
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
        std::fs::write(path, types()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == types(), "rooflight-types.d.ts is stale: ROOFLIGHT_WRITE=1 cargo test --lib api");
}
