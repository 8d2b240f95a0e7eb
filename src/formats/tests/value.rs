//! JSON as a tree, against serde_json.

use formats::json::Value;
use proptest::prelude::*;
use serde_json::Value as Json;

/// What the tree keeps of a piece of JSON.
fn same(ours: &Value, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Json::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .all(|(key, value)| theirs.get(key).is_some_and(|t| same(value, t)))
        }
        (Value::Array(ours), Json::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(o, t)| same(o, t))
        }
        (Value::Text(ours), Json::String(theirs)) => ours == theirs,
        (Value::Number(ours), Json::Number(theirs)) => Some(*ours) == theirs.as_f64(),
        (Value::Word, Json::Bool(_) | Json::Null) => true,
        _ => false,
    }
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        (-1e300..1e300).prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_as_it_is(json in json(), pretty in any::<bool>()) {
        let text = if pretty {
            serde_json::to_string_pretty(&json).unwrap()
        } else {
            json.to_string()
        };
        let value = Value::parse(&text).unwrap();
        prop_assert!(same(&value, &json), "{text}");
        // Cut short, an array, object or string is no longer one.
        if matches!(value, Value::Object(_) | Value::Array(_) | Value::Text(_)) {
            prop_assert!(Value::parse(text.trim_end().get(..text.len() - 1).unwrap_or("")).is_err());
        }
    }
}

#[test]
fn members_are_asked_for_by_name_and_kind() {
    let value =
        Value::parse(r#"{"n": 3, "half": 0.5, "of": "x", "all": ["a", "b"], "no": null}"#).unwrap();
    assert_eq!(value.whole("n"), Ok(3));
    assert_eq!(value.text("of").as_deref(), Ok("x"));
    assert_eq!(value.list("all", |v| v.as_text("one")).unwrap(), ["a", "b"]);
    for wrong in [
        value.whole("half").map(drop),
        value.whole("of").map(drop),
        value.whole("no").map(drop),
        value.text("n").map(drop),
        value.list("n", |_| Ok(())).map(drop),
        value.list("all", |v| v.whole("x")).map(drop),
        value.member("missing").map(drop),
    ] {
        assert!(wrong.unwrap_err().to_string().contains("Correct the file"));
    }
}

#[test]
fn what_nests_too_deep_is_refused() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(Value::parse(&deep(30)).is_ok());
    assert!(Value::parse(&deep(100_000)).is_err());
}
