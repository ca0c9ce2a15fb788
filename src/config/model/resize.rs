//! The sizes of an architecture that can be edited one by one.

use super::limits::NAME_BYTES;
use super::{Attention, Blocks, Ffn, Model};

/// The suffix of an edited model's name and id.
const EDITED: (&str, &str) = (" (edited)", "-edited");

/// A size of an architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Layers,
    Hidden,
    Heads,
    KvHeads,
    HeadDim,
    Window,
    /// Latent attention: the width cached per token.
    Latent,
    /// Width of the dense MLPs.
    Mlp,
    Experts,
    /// Experts that each token visits.
    Active,
    /// Width of one expert.
    ExpertWidth,
    /// Total width of the shared experts.
    SharedWidth,
    Vocab,
}

impl Size {
    fn of_blocks(self, blocks: &mut Blocks) -> Option<&mut u32> {
        match (self, &mut blocks.attention, &mut blocks.ffn) {
            (Self::Heads, Some(Attention::Gqa(gqa)), _) => Some(&mut gqa.heads),
            (Self::Heads, Some(Attention::Mla(mla)), _) => Some(&mut mla.heads),
            (Self::KvHeads, Some(Attention::Gqa(gqa)), _) => Some(&mut gqa.kv_heads),
            (Self::HeadDim, Some(Attention::Gqa(gqa)), _) => Some(&mut gqa.head_dim),
            (Self::Window, Some(Attention::Gqa(gqa)), _) => gqa.window.as_mut(),
            (Self::Latent, Some(Attention::Mla(mla)), _) => Some(&mut mla.latent),
            (Self::Mlp, _, Some(Ffn::Dense(dense))) => Some(&mut dense.intermediate),
            (Self::Experts, _, Some(Ffn::Moe(moe))) => Some(&mut moe.experts),
            (Self::Active, _, Some(Ffn::Moe(moe))) => Some(&mut moe.topk),
            (Self::ExpertWidth, _, Some(Ffn::Moe(moe))) => Some(&mut moe.intermediate),
            (Self::SharedWidth, _, Some(Ffn::Moe(moe))) => moe.shared.as_mut(),
            _ => None,
        }
    }
}

impl Model {
    /// The first such size of its blocks; `None` if it has none.
    pub fn size(&self, size: Size) -> Option<u32> {
        match size {
            Size::Layers => Some(self.layers()),
            Size::Hidden => Some(self.hidden),
            Size::Vocab => Some(self.vocab),
            _ => self.blocks.iter().find_map(|blocks| size.of_blocks(&mut blocks.clone()).copied()),
        }
    }

    /// The model with this size. If blocks differ in it, the others keep their proportion to the first. Kinds of layers
    /// keep their proportions; with fewer layers than kinds, the rarest kinds are dropped.
    #[must_use]
    pub fn resized(&self, size: Size, value: u32) -> Self {
        let mut own = self.clone();
        let scale = |old: u32, first: u32| {
            let scaled = f64::from(old) * f64::from(value) / f64::from(first.max(1));
            scaled.round().max(f64::from(value.min(1))) as u32
        };
        match (size, self.size(size)) {
            (Size::Hidden, _) => own.hidden = value,
            (Size::Vocab, _) => own.vocab = value,
            (Size::Layers, Some(layers)) => {
                own.blocks.iter_mut().for_each(|blocks| blocks.count = scale(blocks.count, layers));
                own.settle_layers(value);
            }
            (_, Some(first)) => {
                for blocks in &mut own.blocks {
                    if let Some(old) = size.of_blocks(blocks) {
                        *old = scale(*old, first);
                    }
                }
            }
            (_, None) => {}
        }
        if own != *self && !own.name.ends_with(EDITED.0) {
            own.name = marked(&own.name, EDITED.0);
            own.id = marked(&own.id, EDITED.1);
        }
        own
    }

    /// The `listed` model that an edit has led back to.
    pub fn restored<'a>(&self, listed: impl FnOnce(&str) -> Option<&'a Self>) -> Option<&'a Self> {
        let listed = listed(self.id.strip_suffix(EDITED.1)?)?;
        let own = Self { id: listed.id.clone(), name: listed.name.clone(), ..self.clone() };
        (own == *listed).then_some(listed)
    }

    /// Corrects the total to `layers`, which rounding may have missed.
    fn settle_layers(&mut self, layers: u32) {
        while self.blocks.len() > layers.max(1) as usize {
            let rarest = (0..self.blocks.len()).min_by_key(|at| self.blocks[*at].count).unwrap_or(0);
            self.blocks.remove(rarest);
        }
        while let Some(over) = self.layers().checked_sub(layers).filter(|over| *over > 0) {
            let Some(largest) = self.blocks.iter_mut().max_by_key(|blocks| blocks.count) else { return };
            let less = over.min(largest.count.saturating_sub(layers.min(1)));
            if less == 0 {
                return;
            }
            largest.count -= less;
        }
        let under = layers.saturating_sub(self.layers());
        if let Some(largest) = self.blocks.iter_mut().max_by_key(|blocks| blocks.count) {
            largest.count = largest.count.saturating_add(under);
        }
    }

    /// Whether its sizes were edited.
    pub fn is_edited(&self) -> bool {
        self.name.ends_with(EDITED.0)
    }
}

/// `name` with this suffix, and no longer than a name may be.
fn marked(name: &str, end: &str) -> String {
    let mut most = NAME_BYTES - end.len();
    while !name.is_char_boundary(most.min(name.len())) {
        most -= 1;
    }
    format!("{}{end}", &name[..most.min(name.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    fn model(id: &str) -> &'static Model {
        catalog().model(id).expect("in the catalog")
    }

    #[test]
    fn a_size_is_read_as_it_was_written() {
        let dense = model("llama-3.1-8b");
        for (size, value) in [
            (Size::Layers, 40),
            (Size::Hidden, 5120),
            (Size::Heads, 64),
            (Size::KvHeads, 4),
            (Size::HeadDim, 64),
            (Size::Mlp, 16_384),
            (Size::Vocab, 64_000),
        ] {
            assert_eq!(dense.resized(size, value).size(size), Some(value), "{size:?}");
        }
        assert_eq!(dense.size(Size::Experts), None);
        assert_eq!(&dense.resized(Size::Experts, 8), dense, "it has no experts to count");
    }

    #[test]
    fn kinds_of_layers_keep_their_proportions() {
        let mixed = model("deepseek-r1");
        let half = mixed.resized(Size::Layers, mixed.layers() / 2);
        assert_eq!(half.layers(), mixed.layers() / 2);
        assert_eq!(half.blocks.len(), mixed.blocks.len());
        assert!(half.blocks.iter().all(|blocks| blocks.count > 0));
        for model in &catalog().models.models {
            for layers in [0, 1, 2, 4, 7, 100, 10_000] {
                assert_eq!(model.resized(Size::Layers, layers).layers(), layers, "{}", model.id);
            }
        }
    }

    #[test]
    fn an_edited_model_says_so_once() {
        let edited = model("llama-3.1-8b").resized(Size::Hidden, 5120).resized(Size::Layers, 8);
        assert_eq!(edited.name.matches("(edited)").count(), 1);
        assert!(edited.is_edited() && !model("llama-3.1-8b").is_edited());
    }
}
