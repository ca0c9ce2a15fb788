//! What the labels of a case's layout mean.

use crate::evidence::cases::ServedCase;

/// How the model was laid out over the GPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaunchLayout {
    /// GPUs of the one node.
    pub gpus: u32,
    /// GPUs that share each attention head group.
    pub tp: u32,
    /// GPUs over which the experts are spread; the rest of the node splits each expert.
    pub ep: u32,
    /// Attention ranks, each with its own requests.
    pub attention_dp: u32,
}

/// A label in the sweeps' sense: number of GPUs, distribution of experts, with or without attention DP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    pub gpus: u32,
    pub ep: u32,
    pub attention_dp: bool,
}

/// Undoes what the import of the sweeps did to rows that name both TP and EP above one.
///
/// A sweep states one width, used twice: TP for attention or for everything, EP for the experts. The import
/// multiplied them, in one of two ways: with attention DP, TP 8 EP 8 became 64 ranks of attention with EP 8;
/// otherwise TP 4 EP 4 became four ranks of TP 4 with EP 16. Runs that were imported twice, and neighbours
/// measured the day before, have the same times under the plain label. No script mixes the two degrees.
pub(super) fn read_label(case: &ServedCase) -> Label {
    let (tp, ep, dp) = (case.tp.max(1), case.ep.max(1), case.dp_attention.max(1));
    if dp == 1 {
        Label { gpus: tp, ep, attention_dp: false }
    } else if tp == 1 {
        // Experts cannot be spread over more GPUs than there are, so such a label was not multiplied.
        let divided = dp / ep;
        let gpus = if divided < ep { dp } else { divided };
        Label { gpus, ep, attention_dp: true }
    } else {
        Label { gpus: tp, ep: (ep / dp).max(1), attention_dp: false }
    }
}

/// How the labels of the case disagree with what ran.
pub(super) fn disagreements(case: &ServedCase, label: Label, layout: LaunchLayout) -> Vec<String> {
    let ServedCase { gpus, tp, ep, dp_attention, .. } = case;
    let mut doubts = Vec::new();
    if label.gpus != *gpus {
        doubts.push(format!(
            "labelled {gpus} GPUs (TP {tp}, EP {ep}, attention DP {dp_attention}), which multiplies degrees twice; \
             read as {} GPUs",
            layout.gpus
        ));
    }
    if label.ep != layout.ep {
        doubts.push(format!("labelled EP {}, but the script ran EP {}", label.ep, layout.ep));
    }
    if label.attention_dp != (layout.attention_dp > 1) {
        let ran = if layout.attention_dp > 1 { "with" } else { "without" };
        doubts.push(format!("the script ran {ran} attention DP, unlike the label"));
    }
    doubts
}
