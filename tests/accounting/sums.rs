//! Every model of the catalog.

use rooflight::config::catalog::catalog;
use rooflight::config::check;
use rooflight::config::model::{Attention, Class, Ffn};

use super::{Served, class, served};

#[test]
fn every_model_of_the_catalog_is_served() {
    for model in &catalog().models.models {
        let tokens = model.max_context.min(4000);
        // Eight GPUs, or as many as heads and blocks of scales divide over.
        let accepted = |served: &Served| check(&served.scenario(tokens), catalog()).0.is_some();
        let degrees = ["vllm", "sglang"].into_iter().flat_map(|engine| [8, 4, 2, 1].map(|tp| (engine, tp)));
        let served = degrees.map(|(engine, tp)| served(&model.id).tp(tp).on(engine)).find(accepted);
        let memory = served.unwrap_or_else(|| panic!("{}", model.id)).memory(tokens);
        assert!(memory.kv_per_token.0 > 0.0 && memory.weights.0 > 0.0, "{}", model.id);
    }
}

#[test]
fn every_model_of_the_catalog_adds_up() {
    for model in &catalog().models.models {
        let classes = [Class::Attention, Class::Mlp, Class::Shared, Class::Experts, Class::Kept];
        let blocks: f64 = classes.iter().map(|one| class(model, *one).0).sum();
        let tables = if model.tied_embeddings { 1.0 } else { 2.0 };
        let tables = f64::from(model.hidden)
            * (tables * f64::from(model.vocab) + f64::from(model.positions.unwrap_or(0)) + 1.0);
        assert_eq!(blocks + tables, model.parameters(), "{}", model.id);
        let active = model.active_parameters();
        assert!(active > 0.0 && active <= model.parameters(), "{}", model.id);
        let experts = model.blocks.iter().any(|blocks| matches!(blocks.ffn, Some(Ffn::Moe(_))));
        assert_eq!(active < model.parameters(), experts, "{}", model.id);
        let linear = |attention: &Attention| matches!(attention, Attention::Delta(_) | Attention::Mamba(_));
        assert!(model.attentions().any(|attention| !linear(attention)), "{}", model.id);
    }
}
