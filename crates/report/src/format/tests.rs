//! What has to be so of every document, whatever it is of; others run it over theirs.

use super::{FORMATS, Look, html, terminal};
use crate::document::{Block, Document, Section};

/// A document as a terminal of 80 columns has it.
pub(crate) fn text(document: &Document) -> String {
    terminal(document, LOOK)
}

const LOOK: Look = Look {
    color: false,
    width: 80,
};

/// Every format makes something of it that a reader of that format can read.
pub(crate) fn holds(document: &Document) {
    for format in FORMATS {
        let text = format.render(document, LOOK).unwrap();
        assert!(
            text.ends_with('\n') && !text.ends_with("\n\n"),
            "{}",
            format.name
        );
        let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(!text.contains(harmful), "{}: {text}", format.name);
        for verdict in &document.verdicts {
            let word = verdict.word.to_uppercase();
            assert!(
                text.to_uppercase().contains(&word),
                "{}: {word}",
                format.name
            );
        }
        for section in document.sections.iter().filter(|one| !one.title.is_empty()) {
            let mut words = section.title.split(|c: char| !c.is_alphanumeric());
            let first = words.find(|word| !word.is_empty()).unwrap_or_default();
            assert!(text.contains(first), "{}: {first}", format.name);
        }
    }
    if !has_own_lines(&document.sections) {
        for width in [40, 72, 80, 100, 250] {
            let text = terminal(
                document,
                Look {
                    color: false,
                    width,
                },
            );
            let fits = |line: &&str| line.chars().count() > width && line.contains(' ');
            assert_eq!(text.lines().find(fits), None, "{width} columns");
        }
    }
    assert_mail_fits(document);
    ends_where_it_began(&html(document).unwrap());
}

/// A mail has 72 columns but where the source itself, or one word, is wider.
fn assert_mail_fits(document: &Document) {
    let shows_source = |block: &Block| matches!(block, Block::Snippets(_) | Block::Patch(_));
    if has_blocks(&document.sections, &shows_source) {
        return;
    }
    let mail = super::mail::render(document);
    let wide = |line: &&str| line.chars().count() > 72 && line.trim().contains(' ');
    assert_eq!(mail.lines().find(wide), None);
}

/// Whether lines are in it that stand as they are.
fn has_own_lines(sections: &[Section]) -> bool {
    has_blocks(sections, &|block| {
        matches!(
            block,
            Block::Lines(_) | Block::Script(_) | Block::Snippets(_) | Block::Patch(_)
        )
    })
}

fn has_blocks(sections: &[Section], which: &dyn Fn(&Block) -> bool) -> bool {
    let mut sections = sections.iter();
    sections.any(|section| section.blocks.iter().any(which) || has_blocks(&section.sections, which))
}

/// Every element of a page ends inside the one in which it began.
pub(crate) fn ends_where_it_began(page: &str) {
    let mut open = vec!["html", "head"];
    for (name, opens) in tags(page) {
        if opens {
            open.push(name);
        } else {
            assert_eq!(open.pop(), Some(name));
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

/// The tags of a page, in order: name, and whether it opens.
pub(crate) fn tags(page: &str) -> Vec<(&str, bool)> {
    let (_, body) = page.split_once("</style>").unwrap();
    let tags = body.split('<').skip(1);
    let tags = tags.filter(|tag| !tag.split('>').next().unwrap().ends_with('/'));
    tags.map(|tag| {
        let end = tag.find([' ', '>']).unwrap();
        let name = &tag[..end];
        (name.trim_start_matches('/'), !name.starts_with('/'))
    })
    .collect()
}
