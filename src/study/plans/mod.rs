//! The plans requested by a link as a document: the best first, how much more the others cost, and what was
//! searched.

mod charts;
mod files;
mod lead;
mod table;

use super::{Block, Document, Fact, Row, Span, refused};
use crate::config::catalog::catalog;
use crate::config::link::{self, Link};
use crate::config::{Dtype, Field, Issue, Scenario, Severity};
use crate::efficiency::AskModels;
use crate::find::{Answer, Capacity, Day, DeploymentPlan, Nearest, Question, Request, Search, Survey};
use crate::study::words::{demand, lengths};
use crate::units::{count, fixed};
use lead::lead;
use table::{details, dollars, open, table};

/// The search for a link's plans.
#[derive(Debug)]
pub struct Plans {
    /// The request, with what the search may vary.
    link: Link,
    /// What is to be served.
    heading: String,
    /// `None` if the link cannot be searched for; the issues say why.
    search: Option<(Survey, Search)>,
    done: bool,
    issues: Vec<Issue>,
}

impl Plans {
    pub fn new(link: &Link) -> Self {
        let (request, question, issues) = Question::from_link(link);
        let heading = request.as_ref().map_or_else(String::new, |request| heading(request, &question));
        let search = request.map(|request| Survey::new(request, question));
        Self { link: link.clone(), heading, search, done: false, issues }
    }

    /// Runs one task of the search. Returns whether anything remains.
    ///
    /// # Errors
    /// Why the models failed.
    pub fn step(&mut self, ask: AskModels<'_>) -> Result<bool, String> {
        let Some((survey, search)) = self.search.as_mut().filter(|_| !self.done) else { return Ok(false) };
        if search.step(ask)? {
            return Ok(true);
        }
        match survey.next(search.answer()) {
            Some(next) => *search = next,
            None => self.done = true,
        }
        Ok(!self.done)
    }

    /// Layouts done and in total; equal only if nothing remains.
    pub fn progress(&self) -> (usize, usize) {
        let Some((survey, search)) = &self.search else { return (0, 0) };
        let counts = match self.shows_peak(survey) {
            true => survey.capacity.answer.counts,
            false => search.counts(),
        };
        let (all, remaining) = (counts.layouts.max(1), counts.remaining);
        let done = if self.done { all } else { (all - remaining.min(all)).min(all - 1) };
        (done as usize, all as usize)
    }

    /// Whether it has no plan, or none yet.
    pub fn is_empty(&self) -> bool {
        self.search.as_ref().is_none_or(|(survey, search)| self.shown(survey, search).plans.is_empty())
    }

    /// Issues with the request, and why nothing was found.
    pub fn issues(&self) -> Vec<Issue> {
        let found = self.search.as_ref().filter(|(survey, _)| self.done || survey.is_last());
        let found = found.map_or_else(Vec::new, |(survey, search)| self.shown(survey, search).issues);
        self.issues.iter().cloned().chain(found).collect()
    }

    /// The plans that are known: those of the search under way, unless it is one for an hour of a day.
    fn shown(&self, survey: &Survey, search: &Search) -> Answer {
        match self.done || self.shows_peak(survey) {
            true => survey.capacity.answer.clone(),
            false => search.answer(),
        }
    }

    /// Whether the search under way is one for an hour of a day, of a single layout.
    fn shows_peak(&self, survey: &Survey) -> bool {
        !survey.is_last() && survey.capacity.most.is_none() && !survey.capacity.answer.plans.is_empty()
    }

    /// The plans that are known, and what was searched. `page` is the page's address, for links to share.
    pub fn document(&self, page: &str) -> Document {
        let Some((survey, search)) = &self.search else {
            return Document { blocks: refused(&self.issues), ..Document::default() };
        };
        let answer = self.shown(survey, search);
        let [most, days] = capacity(&survey.capacity, &answer, self.done);
        let mut blocks = vec![Block::text(&*self.heading).called("plans-load")];
        blocks.extend(most);
        // Until all days are known, another plan may be the cheapest.
        let known: &[Day] = if self.done { &survey.capacity.days } else { &[] };
        blocks.push(lead(&answer, survey.is_of_day().then_some(known)).called("plans-lead"));
        blocks.extend(days);
        let is_open = self.link.find.as_ref().is_none_or(|find| find.get(Field::Weights).is_none());
        blocks.extend(narrower(&self.link, &answer).filter(|_| is_open));
        blocks.extend(answer.pools.as_ref().map(|text| Block::text(sentence(text)).called("plans-pools")));
        let (shown, costly): (Vec<&DeploymentPlan>, Vec<&DeploymentPlan>) = match &answer.nearest {
            Some(Nearest { plan, .. }) => (vec![plan], Vec::new()),
            None => answer.plans.iter().partition(|plan| is_affordable(plan, &answer)),
        };
        let warns = |issue: &&Issue| issue.severity == Severity::Warning;
        let doubts = answer.plans.first().into_iter().flat_map(|best| best.issues.iter().filter(warns));
        blocks.extend(doubts.map(|issue| Block::text(format!("Best plan: {}", issue.sentence()))));
        if !shown.is_empty() {
            blocks.push(table("Plans, the cheapest first", &shown).called("plans-table"));
        }
        if answer.nearest.is_none() {
            blocks.extend(shown.iter().enumerate().map(|(index, plan)| details(index, plan, page)));
            blocks.extend(costlier(&costly, shown.len(), page));
        }
        blocks.extend(charts::blocks(search.tried()));
        blocks.extend(others(&answer));
        blocks.push(counts(&answer));
        Document { blocks, ..Document::default() }
    }

    /// The document as the page shows it, with the search as a link to share and the plans as files.
    pub fn page_document(&self, page: &str) -> Document {
        let mut document = self.document(page);
        let export = self.search.as_ref().map(|(survey, search)| {
            let answer = self.shown(survey, search);
            files::export(&self.link, &document, &Capacity { answer, ..survey.capacity.clone() }, page)
        });
        document.blocks.push(files::share(&self.link, page));
        document.blocks.extend(export);
        document
    }
}

/// What is to be served, also where the request leaves it to the defaults: `Llama-3.1-8B: 1024 tokens in, 512 out, 16 clients`.
pub fn heading(request: &Request, question: &Question) -> String {
    let (model, workload) = (&request.base.model, &request.base.workload);
    let asked = match question {
        Question::Plans => demand(workload),
        // Its loads stand below the table.
        Question::Most(_) | Question::Day(_) => lengths(workload),
    };
    format!("{}: {asked}", model.record().map_or(model.id(), |model| &model.name))
}

/// Which narrower formats a plan's GPU and engine have, if all plans have weights in one format.
fn narrower(link: &Link, answer: &Answer) -> Option<Block> {
    let plans: Vec<Scenario> = answer.plans.iter().map(|plan| link::decode(&plan.link).0.scenario).collect();
    let own = plans.first().filter(|_| answer.finished)?;
    let weights = own.weights_format()?;
    if plans.iter().any(|plan| plan.weights_format() != Some(weights)) {
        return None;
    }
    let model = own.model.record()?;
    let serves = |plan: &Scenario, format: Dtype| {
        let served = catalog().gpu(&plan.gpu).zip(catalog().engine(&plan.engine));
        served.is_some_and(|(gpu, engine)| engine.serves(format, model, gpu))
    };
    let is_narrower =
        |format: &Dtype| format.bytes() < weights.bytes() && plans.iter().any(|plan| serves(plan, *format));
    let mut formats: Vec<Dtype> = [Dtype::Fp8, Dtype::Nvfp4].into_iter().filter(is_narrower).collect();
    let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
    let text = format!(
        "All plans are in {}. Weights in {} may need fewer GPUs: ",
        weights.name(),
        names.join(" or ")
    );
    formats.insert(0, weights);
    let ids: Vec<&str> = formats.iter().map(|format| format.id()).collect();
    let mut with_these = link.clone();
    with_these.find.get_or_insert_default().set(Field::Weights, &ids.join(","));
    let search = Span::link("Search with them too", format!("#{}", with_these.encode()));
    (!names.is_empty()).then(|| Block::spans(vec![Span::plain(text), search, Span::plain(".")]))
}

/// Plans that cost more than this many times as much as the best, by what they are ranked by, are folded away.
const FOLDED_ABOVE: f64 = 5.0;

fn is_affordable(plan: &DeploymentPlan, answer: &Answer) -> bool {
    let cost = |plan: &DeploymentPlan| answer.ranked_by.rank_of(plan).dollars();
    let costs = answer.plans.first().and_then(cost).zip(cost(plan));
    costs.is_none_or(|(best, own)| best == 0.0 || own <= best * FOLDED_ABOVE)
}

/// The plans that are not affordable, after the `shown` others.
fn costlier(costly: &[&DeploymentPlan], shown: usize, page: &str) -> Option<Block> {
    let plans = match costly.len() {
        0 => return None,
        1 => "1 more plan".to_owned(),
        many => format!("{many} more plans"),
    };
    let name = format!("{plans}, over {} times as expensive as the best", fixed(FOLDED_ABOVE, 0));
    let mut blocks = vec![table("More expensive plans", costly)];
    blocks.extend(costly.iter().enumerate().map(|(index, plan)| details(shown + index, plan, page)));
    Some(Block::fold("plans-dearer", name, blocks))
}

/// The most load, and what a day costs.
fn capacity(Capacity { most, days, .. }: &Capacity, answer: &Answer, done: bool) -> [Option<Block>; 2] {
    let best = answer.plans.first().filter(|_| done);
    let so_far = if done { "" } else { "so far " };
    let most = most.map(|most| Block::text(sentence(&format!("{so_far}{}", most.text(best)))));
    let head = ["Plan", "$ a day", "$ a day at peak replicas", "GPU hours", "Replicas"];
    let row = |day: &Day| {
        Row::new(vec![
            Span::link(&day.name, format!("#{}", day.link)),
            dollars(day.dollars_per_day),
            dollars(day.dollars_per_day_at_peak),
            count(day.gpu_hours).into(),
            day.steps().into(),
        ])
    };
    let table = Block::table("The plans over a day", &head, days.iter().map(row)).called("plans-days");
    [most.map(|most| most.called("plans-most")), (!days.is_empty()).then_some(table)]
}

fn sentence(text: &str) -> String {
    Issue::error(Field::Link, text).sentence() + "."
}

/// Types of GPUs without a plan.
fn others(answer: &Answer) -> Option<Block> {
    let name = |id: &str| catalog().gpu(id).map_or_else(|| id.to_owned(), |gpu| gpu.name.clone());
    let row = |other: &crate::find::Other| Row::texts([name(&other.gpu), other.reason.clone()]);
    let table = Block::table("GPU types without a plan", &["GPU", "Reason"], answer.others.iter().map(row));
    let title = match answer.others.len() {
        1 => "1 GPU type without a plan".to_owned(),
        many => format!("{many} GPU types without a plan"),
    };
    (!answer.others.is_empty() && answer.finished).then(|| Block::fold("plans-others", title, vec![table]))
}

/// The outcomes of the layouts.
fn counts(answer: &Answer) -> Block {
    let counts = answer.counts;
    let fact = |name, number: u32, help| Fact::new(name, count(f64::from(number)), help);
    let facts = vec![
        fact(
            "Layouts",
            counts.layouts,
            "Allowed GPUs, engines, formats and degrees, with any number of replicas",
        ),
        fact("Cannot run", counts.refused, "Heads that do not divide, formats without kernels"),
        fact("Do not fit in memory", counts.too_large, "Weights and one sequence do not fit"),
        fact("Too slow at best", counts.too_slow, "Miss the limits even with ideal kernels"),
        fact(
            "Beyond the fleet",
            counts.beyond_fleet,
            "Even the fewest replicas exceed the GPUs or dollars available",
        ),
        fact("Ruled out", counts.pruned, "No better than the plans found even at best, so not simulated"),
        fact("Simulated", counts.simulated, "Step times predicted, and the load run over them"),
        fact("Loads simulated", counts.runs, "With different numbers of replicas, in all"),
    ];
    Block::facts(facts).called("plans-counts")
}

#[cfg(test)]
mod tests {
    use super::table::spare;
    use super::*;
    use crate::study::Content;

    #[test]
    fn plans_that_are_much_dearer_are_folded_away_not_dropped() {
        let plan = |name: &str, dollars| DeploymentPlan {
            name: name.into(),
            dollars_per_hour: Some(dollars),
            ..DeploymentPlan::default()
        };
        let (one, other) = (plan("one", 11.0), plan("other", 12.0));
        assert!(costlier(&[], 1, "").is_none());
        let fold = costlier(&[&one, &other], 1, "").expect("a fold");
        assert!(fold.name.starts_with("2 more plans, over 5 times as expensive"), "{}", fold.name);
        let Content::Fold(blocks) = &fold.content else { panic!("{fold:?}") };
        let table = blocks[0].as_table().expect("a table");
        assert_eq!(
            table.rows.iter().map(|row| row.cells[0].text.as_str()).collect::<Vec<_>>(),
            ["one", "other"]
        );
        assert!(blocks[1].name.starts_with("2. one"), "{}", blocks[1].name);
    }

    #[test]
    fn a_spare_replica_beyond_the_fleet_says_what_it_lacks() {
        let plan = |spare_lacks| DeploymentPlan {
            dollars_per_hour_with_spare: Some(12.0),
            spare_lacks,
            ..DeploymentPlan::default()
        };
        assert_eq!(spare(&plan(None)).text, "$12.00");
        assert_eq!(spare(&plan(Some("needs 2 GPUs".into()))).text, "$12.00: needs 2 GPUs");
    }
}
