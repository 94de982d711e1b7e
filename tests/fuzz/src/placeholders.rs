//! Placeholders: each is where it is said to be, filled once, and nothing else of the template is changed.

use rawr_core::prompt::{PromptName, render, scan};

/// No template holds it: control characters are taken out first.
const VALUE: &str = "\u{1}";

/// The first byte says which prompt it is.
pub fn run(data: &[u8]) {
    let Some((name, template)) = data.split_first() else { return };
    let template = String::from_utf8_lossy(template).replace(VALUE, "");
    let name = PromptName::ALL[usize::from(*name) % PromptName::ALL.len()];
    let declared =
        |found: &str| name.placeholders().iter().any(|p| p.camel == found || p.snake == found);
    let (mut rest, mut at) = (Vec::new(), 0);
    for found in scan(&template) {
        assert!(found.span.start >= at, "{found:?} begins before {at}");
        assert_eq!(template[found.span.clone()], format!("{{{}}}", found.name));
        if declared(found.name) {
            rest.push(&template[at..found.span.start]);
            at = found.span.end;
        }
    }
    rest.push(&template[at..]);
    let filled = render(name, &template, |_| Some(VALUE));
    assert_eq!(filled.split(VALUE).collect::<Vec<_>>(), rest, "changed besides its placeholders");
    let left: Vec<_> = scan(&filled).filter(|found| declared(found.name)).collect();
    assert!(left.is_empty(), "{left:?} was not filled");
    // Values are not scanned.
    let nested = format!("{{{}}}", name.placeholders().first().map_or("x", |first| first.camel));
    let filled = render(name, &template, |_| Some(&nested));
    assert_eq!(filled, rest.join(&nested));
}
