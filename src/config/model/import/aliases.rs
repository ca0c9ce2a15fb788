//! Names that families give to keys, and those used here.

/// Key names from before most families adopted Llama's.
pub const OLDER: [(&str, &str); 25] = [
    ("n_embd", "hidden_size"),
    ("n_embed", "hidden_size"),
    ("d_model", "hidden_size"),
    // OPT-350m projects from another width: refused as a contradiction.
    ("word_embed_proj_dim", "hidden_size"),
    ("n_head", "num_attention_heads"),
    ("n_heads", "num_attention_heads"),
    ("n_layer", "num_hidden_layers"),
    ("n_layers", "num_hidden_layers"),
    ("num_layers", "num_hidden_layers"),
    ("n_inner", "intermediate_size"),
    ("ffn_dim", "intermediate_size"),
    ("ffn_hidden_size", "intermediate_size"),
    ("n_positions", "max_position_embeddings"),
    ("n_ctx", "max_position_embeddings"),
    ("max_seq_len", "max_position_embeddings"),
    ("seq_length", "max_position_embeddings"),
    ("num_kv_heads", "num_key_value_heads"),
    ("multi_query_group_num", "num_key_value_heads"),
    ("attn_config.kv_n_heads", "num_key_value_heads"),
    ("kv_channels", "head_dim"),
    ("padded_vocab_size", "vocab_size"),
    ("add_qkv_bias", "attention_bias"),
    ("use_qkv_bias", "attention_bias"),
    ("use_bias", "attention_bias"),
    ("bias", "attention_bias"),
];

/// Mamba's, as Granite and Falcon name them.
pub const MAMBA_NAMES: [(&str, &str); 5] = [
    ("mamba_n_heads", "mamba_num_heads"),
    ("mamba_d_head", "mamba_head_dim"),
    ("mamba_n_groups", "n_groups"),
    ("mamba_d_state", "ssm_state_size"),
    ("mamba_d_conv", "conv_kernel"),
];
