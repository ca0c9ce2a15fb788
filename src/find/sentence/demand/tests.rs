//! Loads in tokens.

use super::super::testing::{parsed, refused};

#[test]
fn tokens_become_requests_by_their_lengths() {
    for (text, link, note) in [
        (
            "5 million output tokens per day",
            "r=0.113028",
            "`5M output tokens/day` is 0.113 requests/s of 512 tokens out, as on",
        ),
        (
            "1000 output tokens per second",
            "r=1.95313",
            "is 1.95 requests/s of 512 tokens out, as on the form",
        ),
        ("2k in, 200 out, 1000 output tokens/s", "isl=2000&osl=200&r=5", "is 5 requests/s of 200 tokens out"),
        ("1000 output tokens/s, 200 out", "osl=200&r=5", "is 5 requests/s of 200 tokens out"),
        ("chat, 1290 output tokens/s", "isl=1020&osl=129&r=10", "is 10 requests/s of 129 tokens out"),
        ("ShareGPT, 1000 output tokens/s", "sh=sharegpt&r=1.95313", "512 tokens out, as on the form"),
        ("1536 tokens/s in total", "r=1", "is 1 request/s of 1024 tokens in and 512 out, as on"),
        ("1536 total tokens/s", "r=1", "1024 tokens in and 512 out"),
        ("1536 tokens per second in all", "r=1", "1024 tokens in and 512 out"),
        ("1536 tokens in total per second", "r=1", "1024 tokens in and 512 out"),
        ("1536 input + output tokens/s", "r=1", "1024 tokens in and 512 out"),
        ("1024 input tokens/s", "r=1", "of 1024 tokens in, as"),
        ("60k generated tokens a minute", "r=1.95313", "512 tokens out"),
        ("3600k output tokens/hour", "r=1.95313", "512 tokens out"),
        ("5M output tokens daily", "r=0.113028", "512 tokens out"),
        ("5M output tokens each day", "r=0.113028", "512 tokens out"),
        ("5M tokens out per day", "r=0.113028", "512 tokens out"),
        ("output of 5M tokens per day", "r=0.113028", "512 tokens out"),
        ("output throughput 1000 tok/s", "r=1.95313", "512 tokens out"),
        ("qwen3-8b 1000 generated tokens/s", "m=qwen3-8b&r=1.95313", "512 tokens out"),
        ("throughput of 1000 output tokens/s", "r=1.95313", "512 tokens out"),
        ("max throughput of 1000 output tokens/s", "r=1.95313", "512 tokens out"),
        ("1B output tokens per day", "r=22.6056", "512 tokens out"),
        ("1 billion output tokens a day", "r=22.6056", "512 tokens out"),
    ] {
        let (found, issues) = parsed(text);
        assert_eq!(found, format!("v=1&{link}&f=all"), "{text}: {issues:?}");
        let said = issues.iter().any(|issue| issue.text.contains(note));
        assert!(said && !issues.iter().any(|issue| issue.text.contains("ignored")), "{text}: {issues:?}");
    }
}

#[test]
fn speeds_and_lengths_remain_what_they_are() {
    for (text, wanted) in [
        ("5 rps, 25 output tokens/s per user", "v=1&r=5&sp=40&f=all"),
        ("64 users, 25 output tokens/s each", "v=1&c=64&sp=40&f=all"),
        ("5 rps, 1000 output tokens per request", "v=1&osl=1000&r=5&f=all"),
        ("5 rps, input 2000 tokens, output 300 tokens", "v=1&isl=2000&osl=300&r=5&f=all"),
    ] {
        assert_eq!(parsed(text), (wanted.into(), Vec::new()), "{text}");
    }
}

#[test]
fn what_may_mean_several_loads_is_refused() {
    for (text, phrase) in [
        ("5M tokens/day", "`5M output tokens/day`, or `5M tokens/day in total`, prompts"),
        ("300 tok/s", "or `300 tokens/s per user`"),
        ("200k tpm", "say which tokens"),
        ("5M output tokens per month", "`5M output tokens/month`"),
        ("5M output tokens a month", "per second, minute, hour or day"),
        ("many tokens per day", "`many tokens/day`"),
        ("64 users, 1000 output tokens/s", "two loads"),
        ("20 rps, 1000 output tokens/s", "two loads"),
        ("300 users, 50k output tokens/day each", "all users together"),
        ("300 users each 50k output tokens/day", "all users together"),
        ("5M input and 1M output tokens per day", "of one kind"),
        ("5M input tokens and 1M output tokens per day", "of one kind"),
        ("throughput 5000 tok/s", "say which tokens"),
        ("0 output tokens/day", "may be 0"),
    ] {
        assert!(refused(text).contains(phrase), "{text}: {}", refused(text));
    }
}
