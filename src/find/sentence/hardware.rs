//! Hardware, engines and formats of a request, and prices.

use super::left_out::{is_not, not};
use super::{AmountUnit, Parsed, Words, money};
use crate::config::catalog::{POPULAR, catalog};
use crate::config::check::KV_FORMATS;
use crate::config::link::{exclude, real};
use crate::config::names::{BRANDS, of_machine};
use crate::config::{Arch, Dtype, Field, Issue, excerpt};
use crate::find::fleet::gpu_name;
use crate::units::Order;

/// Words between a GPU and its price.
const COSTS: [&str; 6] = ["at", "@", "costs", "cost", "price", "is"];
const PRICES: [&str; 4] = ["prices", "price", "pricing", "priced"];
/// Price terms that apply to every GPU.
pub const TERMS: [&str; 2] = ["reserved", "on_demand"];

/// Reads the phrase that begins with `word`. Returns what it sets; `None` if it is not understood.
pub fn read(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    if is_not(word) {
        return not(word, words, parsed);
    }
    words.at -= 1;
    if let Some(all) = vendor(words) {
        parsed.of_vendors.extend(all);
        return Some(Field::Gpu);
    }
    words.at += 1;
    if let Some((gpu, has)) = of_machine(word) {
        add(Field::Gpu, &gpu.id, parsed);
        parsed.issues.push(Issue::note(Field::Vary, has));
        return Some(Field::Gpu);
    }
    if TERMS.contains(&word) {
        words.next_if(&PRICES);
        return terms(word, parsed);
    }
    if PRICES.contains(&word) {
        words.skip();
        let word = words.next_as(|word| TERMS.into_iter().find(|known| *known == word))?;
        return terms(word, parsed);
    }
    if is_kv(word) {
        words.next_if(&["cache"]);
        words.skip();
        let format = words.next_as(kv)?;
        add(Field::Kv, format, parsed);
        return Some(Field::Kv);
    }
    let all = wishes(word);
    if let Some((Field::Weights, _)) = all.first()
        && of_kv(words)
    {
        add(Field::Kv, kv(word)?, parsed);
        return Some(Field::Kv);
    }
    let all = of_memory(all, words);
    let types = gpus(&all);
    // `H100 x8`.
    let counted = |word: &str| word.strip_prefix(['x', '×']).and_then(|number| real(number).ok());
    if !types.is_empty()
        && let Some(number) = words.next_as(counted)
    {
        return counted_gpus(number, word, types, words, parsed);
    }
    for (field, value) in &all {
        add(*field, value, parsed);
    }
    price(word, &types, words, parsed);
    all.first().map(|(field, _)| *field)
}

/// A vendor's name means its GPUs after one of `ON` or before one of `HARDWARE`.
const ON: [&str; 4] = ["on", "using", "and", "or"];
const HARDWARE: [&str; 5] = ["gpu", "gpus", "cards", "accelerators", "hardware"];

/// Reads a vendor's name. `on AMD` and `AMD Instinct GPUs` mean all of its GPUs; in `AMD MI300X` the name adds nothing to the GPU that
/// follows, so the list is empty. `None` if the next word is no vendor, or means something else, as in `NVIDIA Nemotron`.
pub fn vendor(words: &mut Words) -> Option<Vec<&'static str>> {
    let from = words.at;
    let stands = words.before(from).is_some_and(|word| ON.contains(&word) || is_not(word));
    let is_of = words.next_as(|word| match word {
        "amd" => Some(Arch::is_amd as fn(Arch) -> bool),
        "nvidia" => Some(Arch::is_nvidia),
        "intel" => Some(|arch| arch == Arch::Xe2),
        _ => None,
    })?;
    while words.next_if(&["instinct", "geforce", "tesla", "rtx", "mi"]) {}
    if words.peek().is_some_and(|next| !gpus(&wishes(next)).is_empty()) {
        return Some(Vec::new());
    }
    if !stands && !words.peek().is_some_and(|next| HARDWARE.contains(&next)) {
        words.at = from;
        return None;
    }
    let of_vendor = catalog().gpus.gpus.iter().filter(|gpu| is_of(gpu.arch));
    Some(of_vendor.map(|gpu| gpu.id.as_str()).collect())
}

/// `8 h100-sxm`: the number of GPUs available.
pub fn owned(number: f64, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    while words.next_if(&BRANDS) {}
    let (name, types) = words.next_as(|word| {
        Some((word.to_owned(), gpus(&wishes(word)))).filter(|(_, types)| !types.is_empty())
    })?;
    let all = of_memory(types.iter().map(|id| (Field::Gpu, *id)).collect(), words);
    let types = gpus(&all);
    words.next_as(|word| AmountUnit::of(word).filter(|unit| *unit == AmountUnit::Gpus));
    counted_gpus(number, &name, types, words, parsed)
}

/// `A100 80GB`: those whose name has the size of their memory, if it follows.
fn of_memory(all: Vec<(Field, &'static str)>, words: &mut Words) -> Vec<(Field, &'static str)> {
    let from = words.at;
    let size = words.next().filter(|size| real(size).is_ok());
    let size = size.filter(|_| words.next_if(&["gb", "gib"])).map(|size| format!("{size}gb"));
    let is_of = |id: &str| size.as_ref().is_some_and(|size| id.ends_with(size.as_str()));
    let found: Vec<_> = all.iter().copied().filter(|(field, id)| *field == Field::Gpu && is_of(id)).collect();
    if found.is_empty() {
        words.at = from;
        return all;
    }
    found
}

/// Of several types with this name the most common one: nobody has as many of each.
fn counted_gpus(
    number: f64,
    name: &str,
    mut types: Vec<&'static str>,
    words: &mut Words,
    parsed: &mut Parsed,
) -> Option<Field> {
    let [_, popular] = POPULAR;
    types.order_by_key(|id| popular.iter().position(|popular| popular == id).unwrap_or(popular.len()));
    let (id, others) = types.split_first().filter(|_| number.fract() == 0.0)?;
    if !others.is_empty() {
        let others = others.iter().map(|id| gpu_name(id)).collect::<Vec<_>>().join(", ");
        let text = format!("`{}` is read as {}; others are {others}", excerpt(name), gpu_name(id));
        parsed.issues.push(Issue::note(Field::Vary, text));
    }
    add(Field::Gpu, id, parsed);
    parsed.find.set_number(Field::Owned, id, &number.to_string());
    price(name, &[id], words, parsed);
    Some(Field::Owned)
}

/// `h100 at $2/h` states the price of the GPU; a budget follows other words, or a comma.
fn price(name: &str, types: &[&str], words: &mut Words, parsed: &mut Parsed) {
    if types.is_empty() {
        return;
    }
    let from = words.at;
    let is_priced = words.next_if(&COSTS);
    if !is_priced {
        words.next_if(&["for"]);
    }
    let Some(dollars) = money::price(words, parsed) else {
        words.at = from;
        return;
    };
    let phrase = words.phrase(from, words.at);
    let dollars = dollars.to_string();
    if !is_priced {
        parsed.refused.push(format!(
            "`{} {}`: write `at` before the price of a GPU, or `budget` before the most to spend",
            excerpt(name),
            excerpt(&phrase)
        ));
    }
    for id in types {
        let before = parsed.find.number(Field::Prices, id);
        if !before.is_empty() && before != dollars {
            let text = exclude(&format!("{id} at ${before}"), &format!("{id} at ${dollars}"));
            parsed.issues.push(Issue::warning(Field::Prices, text));
        }
        if parsed.find.get(Field::Prices).is_some_and(|set| TERMS.contains(&set)) {
            parsed.refused.push(mixed());
        }
        parsed.find.set_number(Field::Prices, id, &dollars);
    }
}

fn terms(word: &str, parsed: &mut Parsed) -> Option<Field> {
    if parsed.find.get(Field::Prices).is_some_and(|set| set != word) {
        parsed.refused.push(mixed());
    }
    parsed.find.set(Field::Prices, word);
    Some(Field::Prices)
}

fn mixed() -> String {
    "prices are either reserved, on demand, or given by GPU: leave out `reserved` or `on demand`, or the prices"
        .into()
}

fn is_kv(word: &str) -> bool {
    ["kv", "kv-cache", "kvcache"].contains(&word)
}

fn kv(word: &str) -> Option<&'static str> {
    Dtype::from_id(word).filter(|format| KV_FORMATS.contains(format)).map(Dtype::id)
}

/// Whether the preceding format is that of the KV cache: `fp8 kv cache`, not `int4 kv fp8`.
fn of_kv(words: &mut Words) -> bool {
    let from = words.at;
    let is_kv = words.next_as(|word| is_kv(word).then_some(())).is_some();
    words.next_if(&["cache"]);
    let end = words.at;
    let has_own = words.next_as(Dtype::from_id).is_some();
    words.at = if is_kv && !has_own { end } else { from };
    is_kv && !has_own
}

/// The GPUs, engines or formats with this name.
pub fn wishes(word: &str) -> Vec<(Field, &'static str)> {
    let catalog = catalog();
    let of_type = |id: &str| id == word || id.strip_prefix(word).is_some_and(|rest| rest.starts_with('-'));
    let gpus = catalog.gpus.gpus.iter().map(|gpu| gpu.id.as_str()).filter(|id| of_type(id));
    let formats = Dtype::from_id(word).map(Dtype::id);
    let all: Vec<_> = gpus
        .map(|id| (Field::Gpu, id))
        .chain(catalog.engine_named(word).map(|engine| (Field::Engine, engine.id.as_str())))
        .chain(formats.map(|id| (Field::Weights, id)))
        .collect();
    // `H100s`.
    match word.strip_suffix('s').filter(|one| all.is_empty() && one.ends_with(|c: char| c.is_ascii_digit())) {
        Some(one) => wishes(one),
        None => all,
    }
}

fn gpus(wishes: &[(Field, &'static str)]) -> Vec<&'static str> {
    wishes.iter().filter(|(field, _)| *field == Field::Gpu).map(|(_, id)| *id).collect()
}

pub fn add(field: Field, value: &str, parsed: &mut Parsed) {
    if !parsed.find.list(field).contains(&value) {
        parsed.find.toggle(field, value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{link, refused};
    use super::{Words, vendor};

    #[test]
    fn prices_of_gpus_are_no_budget() {
        for (text, wanted) in [
            ("5 rps, h100-sxm at $2.10/h", "v=1&r=5&f=gpu~h100-sxm~prices~h100-sxm,2.1"),
            (
                "5 rps, h100-sxm at $2/h, b200: $4 per GPU-hour, budget $40/h",
                "v=1&r=5&f=gpu~h100-sxm,b200~prices~h100-sxm,2,b200,4~budget_dollars~40",
            ),
            ("5 rps, 8 b200 at 4 dollars/h each", "v=1&r=5&f=gpu~b200~owned~b200,8~prices~b200,4"),
            ("5 rps on b200, $40/h", "v=1&r=5&f=gpu~b200~budget_dollars~40"),
            ("5 rps, b200 under $40/h", "v=1&r=5&f=gpu~b200~budget_dollars~40"),
            ("5 rps, prices reserved", "v=1&r=5&f=prices~reserved"),
            ("5 rps, h100-sxm at $1.80/h reserved", "v=1&r=5&f=gpu~h100-sxm~prices~h100-sxm,1.8"),
            ("5 rps, reserved prices, b200 or l4", "v=1&r=5&f=gpu~b200,l4~prices~reserved"),
            ("5 rps, on demand", "v=1&r=5&f=prices~on_demand"),
        ] {
            // In the order of the inputs, not of the sentence.
            let sorted = |link: &str| {
                let mut parts: Vec<String> = link.split('~').map(str::to_owned).collect();
                parts.sort();
                parts
            };
            assert_eq!(sorted(&link(text)), sorted(wanted), "{text}: {}", link(text));
        }
        for text in ["5 rps on b200 $40/h", "5 rps, b200 for $4/h", "5 rps, reserved, b200 at $4/h"] {
            assert!(!refused(text).is_empty());
        }
    }

    #[test]
    fn a_vendor_stands_for_all_of_its_gpus() {
        let of = |text: &str| link(text).split_once("gpu~").map(|(_, gpus)| gpus.to_owned());
        for text in ["5 rps on AMD", "5 rps on AMD MI GPUs", "5 rps, AMD Instinct GPUs"] {
            assert_eq!(of(text).as_deref(), Some("mi300x,mi325x,mi350x,mi355x"), "{text}");
        }
        for (text, wanted) in [
            ("5 rps on NVIDIA B200", "b200"),
            ("5 rps, AMD Instinct MI300X", "mi300x"),
            ("5 rps on B200, NVIDIA GPUs", "b200"),
            ("5 rps on NVIDIA GPUs: B200 or L4", "b200,l4"),
            ("5 rps on 8 NVIDIA B200", "b200~owned~b200,8"),
        ] {
            assert_eq!(of(text).as_deref(), Some(wanted), "{text}");
        }
        let all = of("5 rps on NVIDIA GPUs").expect("GPUs");
        assert!(all.contains("h100-sxm") && !all.contains("mi300x"));
        // The publisher of a model.
        assert_eq!(vendor(&mut Words::of("NVIDIA Nemotron 3 Nano, 5 rps")), None);
    }

    #[test]
    fn formats_are_those_of_the_kv_cache_where_it_is_named() {
        for (text, wanted) in [
            ("5 rps, kv fp8", "v=1&r=5&f=kv~fp8"),
            ("5 rps, FP8 KV cache", "v=1&r=5&f=kv~fp8"),
            ("5 rps, KV cache: FP8", "v=1&r=5&f=kv~fp8"),
            ("5 rps, int4, kv fp8", "v=1&r=5&f=weights~int4~kv~fp8"),
            ("5 rps, int4 kv fp8", "v=1&r=5&f=weights~int4~kv~fp8"),
            ("5 rps, fp8 weights", "v=1&r=5&f=weights~fp8"),
        ] {
            assert_eq!(link(text), wanted, "{text}");
        }
        assert!(refused("5 rps, int4 kv").contains("int4"));
    }
}
