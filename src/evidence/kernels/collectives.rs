//! Collectives: the catalog's curves compared with every measurement.

use std::collections::BTreeMap;
use std::path::Path;

use super::report::{ComparedCall, FamilyReport, report};
use super::{Comparison, EvaluationError};
use crate::config::catalog::{catalog, collectives, physics};
use crate::evidence::measured_calls::visit_collectives;
use crate::kernels::collective::NCCL;
use crate::kernels::{Collective, Op, collective};

/// Compares the collectives' times with the tables under `data`; `None` if those have none that is predicted. Their
/// curves are interpolated measurements, and their floor is what the links carry.
pub fn compare_collectives(
    data: &Path,
    comparison: &Comparison<'_>,
) -> Result<Option<FamilyReport>, EvaluationError> {
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    let mut compared = Vec::new();
    visit_collectives(data, &mut |measured| {
        let pair = measured.and_then(|measured| {
            let Op::Collective(call) = &measured.op else { return Err("not a collective".into()) };
            if let Collective::AllReduce { ranks, .. } = *call
                && measured.engine == NCCL
                && collectives().curve(&measured.gpu, "all_reduce", ranks, NCCL).is_none()
            {
                return Err("NCCL's all-reduce, where every engine has a kernel of its own".into());
            }
            let gpu = catalog().gpu(&measured.gpu).ok_or_else(|| format!("no record of {}", measured.gpu))?;
            let predicted = collective::time(call, gpu, &measured.engine)?.seconds.micros();
            let least = collective::wire_bytes(call) / gpu.link_bandwidth()?;
            let ideal = least.max(physics().launch_floor).micros();
            Ok(ComparedCall { measured, predicted, ideal, within: None, outside: false })
        });
        match pair {
            Ok(pair) if comparison.excluded.contains(&pair.measured.gpu) => {}
            Ok(pair) => compared.push(pair),
            Err(reason) => *skipped.entry(reason).or_default() += 1,
        }
    })?;
    Ok(report(&compared, skipped))
}
