//! A page that holds a whole replay. It loads nothing and can be opened from a file.

const TEMPLATE: &str = include_str!("report.html");
const PLACE: &str = "/*DATA*/";

/// The page with this data, in JSON.
pub(crate) fn page(data: &str) -> String {
    // A `<` in the data could end the element that holds it.
    TEMPLATE.replacen(PLACE, &data.replace('<', "\\u003c"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_element() {
        let page = page(r#"{"reason": "</script><script>alert(1)</script>"}"#);
        assert_eq!(page.matches("</script>").count(), TEMPLATE.matches("</script>").count());
        assert!(page.contains("\\u003c/script>"));
    }

    #[test]
    fn the_template_loads_nothing_and_has_one_place_for_data() {
        assert_eq!(TEMPLATE.matches(PLACE).count(), 1);
        for word in ["http://", "https://", " src=", "@import", "fetch("] {
            let allowed = TEMPLATE.replace("http://www.w3.org/2000/svg", "");
            assert!(!allowed.contains(word), "{word}");
        }
    }
}
