//! Files generated from the table of inputs: `docs/links.md`, and the keys that scripts on other pages use.

use super::{Link, VERSION, split};
use crate::config::inputs::{self, Input, InputKind};
use crate::config::{Dtype, Field, Load, Scenario};
use crate::units::decimal;

/// `static/boot/keys.js`.
pub fn keys_script() -> String {
    let is_key = |input: &&Input| {
        !matches!(input.kind(), InputKind::Packed | InputKind::Wishes) && input.field != Field::Version
    };
    let keys: String = inputs::in_links()
        .filter(is_key)
        .map(|input| format!("  {}: \"{}\",\n", input.field.id(), input.key))
        .collect();
    let sizes = Load::SIZES.map(|field| format!("\"{}\"", field.id())).join(", ");
    format!(
        "// Written from src/config/inputs/table.rs: `ROOFLIGHT_WRITE=1 cargo test --test links` renews it.

/** The page's inputs by name, with their keys in a link (docs/links.md). */
export const KEYS = {{
{keys}}};

/** The key of a custom model, instead of KEYS.model. */
export const CUSTOM_MODEL = \"{}\";

/** The sizes of the kinds of load: a configuration has one of them. */
export const LOADS = [{sizes}];

/** Bytes of the longest link that is read. */
export const LONGEST_LINK = {};
",
        split::CUSTOM_MODEL,
        split::MAX_BYTES
    )
}

/// `docs/links.md`.
pub fn grammar() -> String {
    let default = Link::new(Scenario::default());
    let mut rows = String::new();
    for input in inputs::in_links() {
        let default = input.get(&default).map(|value| format!("`{value}`")).unwrap_or_default();
        let (key, field, help) = (input.key, input.field.id(), input.help);
        rows += &format!("| `{key}` | `{field}` | {} | {default} | {help} |\n", value(input));
    }
    let formats: Vec<String> = Dtype::ALL.iter().map(|dtype| format!("\"{}\"", dtype.id())).collect();
    format!(
        "# Links, version {VERSION}

<!-- Written from src/config/inputs/table.rs: `ROOFLIGHT_WRITE=1 cargo test --test links` renews it. -->

A link holds the whole configuration in its fragment, so it reaches no server:
`#v=1&m=qwen3-32b&g=h100-sxm&n=4&tp=2&w=fp8&kv=fp8&c=32`.

```abnf
link     = pair *( \"&\" pair )
pair     = key \"=\" value          ; both percent-encoded
whole    = 1*DIGIT                ; up to {most}
real     = 1*DIGIT [ \".\" 1*DIGIT ]   ; 15 digits count
id       = 1*( ALPHA / DIGIT / \"-\" / \".\" / \"_\" )
format   = {formats}
lengths  = whole / run *( \",\" run )
run      = whole [ \"x\" whole ]    ; 512x3 is 512,512,512
bins     = bin *( \",\" bin )
bin      = whole \"-\" whole [ \"x\" whole ]   ; 512-64x3 is a prompt of 512 and an output of 64 with weight 3
measured = figure *( \",\" figure )
figure   = metric \"-\" ( real [ \"-\" real ] / \"-\" real )   ; mean, median
metric   = \"ttft\" / \"tpot\" / \"e2e\" / \"throughput\" / \"requests\" / \"total\"
packed   = 1*( ALPHA / DIGIT / \"-\" / \"_\" )   ; base64url( JSON, shortened )
links    = pairs *( \"~~\" pairs )
pairs    = key \"~\" value *( \"~\" key \"~\" value )   ; as above, `~` for `=` and `&`
wishes   = \"all\" / wish *( \"~\" wish )
wish     = field \"~\" value *( \",\" value )   ; owned~h100-sxm,16 is 16 of this GPU
```

| key | field | value | default | meaning |
|---|---|---|---|---|
{rows}
* Only what differs from the defaults is written. The defaults of a version never change.
* `n` counts all GPUs; the replicas are `n / (tp * dp * pp)`.
* A value that cannot be read, or an unknown id, becomes an issue on its field; the rest is read.
* Unknown keys are kept, have no effect and cause a warning. If a key is given twice, the last one counts. The same applies to
  {sizes}: the one given selects the kind of load. A text without any known key is an error.
* `m`, and `model` in JSON, may also be the published name of a checkpoint (`nvidia/DeepSeek-R1-0528-FP4-V2`): it is read as
  the catalog model with the same shapes, and `w` as the name's format, with a note. A name with an unknown word is an error
  that suggests similar names.
* A link without a load means 16 clients, a default of version {VERSION} that never changes. A page opened without a link shows an
  example, the link `{fresh}`. A frame without a link has
  the defaults.
* The same keys are read from the query; the fragment takes precedence.
* `d` is written by the page's copy button. A page of another release shows both releases, until the first edit drops `d`.
* A link of a newer version is read as version {VERSION}, and the page says so.
* `x` is the JSON object `{{\"model\": ...}}` with a record like those of `static/catalog/models.json`, in which control
  characters abbreviate common pieces of such records: U+0001 for `{{\"model\":{{\"id\":\"`, and so on, from the frozen table in
  `src/config/link/custom.rs`. Older links hold plain JSON, and are still read.
* The JSON form of `predict` is one object with the fields' names: `{{\"model\": \"qwen3-32b\", \"gpu\": \"h100-sxm\", \"tp\": 2}}`.
  There `isl` is a number or a list, `model` an id or a record, `measured` an object with the names of `vllm bench serve
  --save-result` (`mean_ttft_ms`, `median_tpot_ms`, `output_throughput`), and an unknown field is an error.
* `me` is kept when the configuration changes; no prediction depends on it. Unreadable parts of it are a warning.
",
        most = u32::MAX,
        sizes = {
            let keys = Load::SIZES.map(|size| format!("`{}`", size.input().key));
            let [first @ .., last] = &keys;
            format!("{} and {last}", first.join(", "))
        },
        fresh = super::FRESH,
        formats = formats.join(" / "),
    )
}

/// The grammar production of a value, and its bounds.
fn value(input: &Input) -> String {
    let production = match input.kind() {
        InputKind::Id => "id",
        InputKind::Whole => "whole",
        InputKind::Real => "real",
        InputKind::Format => "format",
        InputKind::Lengths => "lengths",
        InputKind::Histogram => "bins",
        InputKind::Measured => "measured",
        InputKind::Packed => "packed",
        InputKind::Links => "links",
        InputKind::Wishes => "wishes",
    };
    match &input.number {
        // Links hold all GPUs; the number is that of replicas.
        Some(number) if input.field != Field::Gpus => {
            let power = if number.power_of_two { ", a power of two" } else { "" };
            format!("{production}{power}, {} to {}", decimal(number.range.min), decimal(number.range.max))
        }
        _ => production.into(),
    }
}
