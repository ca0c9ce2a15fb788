//! The grammar of links, as documentation: `docs/links.md` is this text.

use super::keys::{KEYS, Kind};
use super::{Link, VERSION};
use crate::config::{Dtype, Scenario};

/// `docs/links.md`, from the table of keys.
pub fn grammar() -> String {
    let default = Link::new(Scenario::default());
    let mut rows = String::new();
    for key in &KEYS {
        let value = (key.show)(&default).map(|value| format!("`{value}`")).unwrap_or_default();
        let (name, field, meaning) = (key.key, key.field.id(), key.meaning);
        rows += &format!("| `{name}` | `{field}` | {} | {value} | {meaning} |\n", production(key.kind));
    }
    let formats: Vec<String> = Dtype::ALL.iter().map(|dtype| format!("\"{}\"", dtype.id())).collect();
    format!(
        "# Links, version {VERSION}

<!-- Written from src/config/link/keys.rs: `ROOFLIGHT_WRITE=1 cargo test --test links` renews it. -->

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
packed   = 1*( ALPHA / DIGIT / \"-\" / \"_\" )   ; base64url( JSON )
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
* `x` is the JSON object `{{\"model\": ...}}` with a record like those of `static/catalog/models.json`.
* The JSON form of `predict` is one object with the fields' names: `{{\"model\": \"qwen3-32b\", \"gpu\": \"h100-sxm\", \"tp\": 2}}`.
  There `isl` is a number or a list, `model` an id or a record, and an unknown field is an error.
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
        Kind::Packed => "packed",
        Kind::Links => "links",
    }
}
