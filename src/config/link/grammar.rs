//! The grammar of links, as documentation: `docs/links.md` is this text.

use super::keys::{self, Kind};
use super::{Link, VERSION};
use crate::config::{Dtype, Scenario};

/// `docs/links.md`, from the table of keys.
pub fn grammar() -> String {
    let default = Link::new(Scenario::default());
    let mut rows = String::new();
    for key in keys::all() {
        let value = (key.show)(&default).map(|value| format!("`{value}`")).unwrap_or_default();
        let (name, field, meaning) = (key.key, key.field.id(), key.meaning);
        rows += &format!("| `{name}` | `{field}` | {} | {value} | {meaning} |\n", production(key.kind));
    }
    let formats: Vec<String> = Dtype::ALL.iter().map(|dtype| format!("\"{}\"", dtype.id())).collect();
    format!(
        "# Links, version {VERSION}

<!-- Written from src/config/link/keys/: `ROOFLIGHT_WRITE=1 cargo test --test links` renews it. -->

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
```

| key | field | value | default | meaning |
|---|---|---|---|---|
{rows}
* Only what differs from the defaults is written. The defaults of a version never change.
* `n` counts all GPUs; the replicas are `n / (tp * dp * pp)`.
* A value that cannot be read, or an id no catalog holds, becomes an issue beside its field; the rest is read.
* Keys that are not listed are kept and have no effect. Of a key given twice the last one counts.
* The same keys are read from the query; the fragment counts over it.
* `d` is written by the page's copy button. A page of another release names both, until the first edit drops it.
* A link of a newer version is read as version {VERSION}, and the page says so.
* `x` is the JSON object `{{\"model\": ...}}` with a record like those of `static/catalog/models.json`, in which a control
  character stands for a usual piece of such records: U+0001 for `{{\"model\":{{\"id\":\"`, and so on by the frozen table of
  `src/config/link/custom.rs`. Links of before that table hold the JSON as it is, and are read for ever.
* The JSON form of `predict` is one object with the fields' names: `{{\"model\": \"qwen3-32b\", \"gpu\": \"h100-sxm\", \"tp\": 2}}`.
  There `isl` is a number or a list, `model` an id or a record, `measured` an object with names as `vllm bench serve
  --save-result` writes them (`mean_ttft_ms`, `median_tpot_ms`, `output_throughput`), and an unknown field is an error.
* `me` stays when the configuration is changed, and takes no part in the prediction. A number in it that is none is left
  out with a warning.
",
        most = u32::MAX,
        formats = formats.join(" / "),
    )
}

fn production(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "id",
        Kind::Whole => "whole",
        Kind::Real => "real",
        Kind::Format => "format",
        Kind::Lengths => "lengths",
        Kind::Histogram => "bins",
        Kind::Measured => "measured",
        Kind::Packed => "packed",
        Kind::Links => "links",
    }
}
