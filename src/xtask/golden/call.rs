//! A reference case as a call of attention.js.

use super::cases::Case;
use attention::{Config, Hidden, MaskUse, PositionUse, Scale};
use serde_json::{Map, Value, json};

/// The case's options, as www/attention.js has them, and its numbers; `None` where it does not offer one of them.
pub fn call(case: &Case) -> Option<Value> {
    let mut call = options(&case.config)?;
    for (name, numbers) in [
        ("q", &case.q),
        ("k", &case.k),
        ("v", &case.v),
        ("dOut", &case.d_out),
    ] {
        call.insert(name.to_owned(), json!(numbers));
    }
    Some(Value::Object(call))
}

/// The names of the tensors that such a call gives, one after the other, and their lengths.
pub fn results(case: &Case) -> Vec<(&'static str, usize)> {
    let shape = case.config.shape;
    let mut results = vec![
        ("out", shape.out_len()),
        ("d_q", shape.q_len()),
        ("d_k", shape.k_len()),
        ("d_v", shape.v_len()),
    ];
    if case.config.sink.is_some() {
        results.push(("d_sink", shape.heads));
    }
    results
}

fn options(config: &Config) -> Option<Map<String, Value>> {
    let shape = config.shape;
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| drop(options.insert(name.to_owned(), value));
    set("h", json!(shape.heads));
    set("hKv", json!(shape.kv_heads));
    set("nQ", json!(shape.n_q));
    set("nK", json!(shape.n_k));
    set("d", json!(shape.d_k));
    set("dV", json!(shape.d_v));
    if let Scale::Custom(scale) = config.scale {
        set("scale", json!(scale));
    }
    if let Some(cap) = config.soft_cap {
        set("softcap", json!(cap));
    }
    if let Some(epsilon) = config.qk_norm {
        set("qkNorm", json!(epsilon));
    }
    if let Some(sink) = &config.sink {
        set("sink", json!(sink));
    }
    if config.hidden != Hidden::NegInfinity {
        return None;
    }
    for mask in &config.masks {
        let count = |key| mask_count(mask, key);
        match mask.scheme.id {
            "causal" => {
                let top_left = count("align") == 1;
                set(
                    "causal",
                    if top_left {
                        json!("topLeft")
                    } else {
                        json!(true)
                    },
                );
                set("prefix", json!(count("prefix")));
            }
            "window" => {
                set("window", json!(count("size")));
                set("keepFirst", json!(count("keep_first")));
            }
            "padding" => set("keyLength", json!(count("key_length"))),
            _ => return None,
        }
    }
    for position in &config.positions {
        match position.scheme.id {
            "alibi" => set("alibi", json!(true)),
            "rope" => set("rope", rope(position)),
            // Acts on tokens, which are not here.
            "sinusoidal" => {}
            _ => return None,
        }
    }
    Some(options)
}

fn mask_count(mask: &MaskUse, key: &str) -> u64 {
    mask.value(key).map_or(0, |value| value as u64)
}

fn rope(position: &PositionUse) -> Value {
    let value = |key| position.value(key).unwrap_or_default();
    let scaling = ["none", "linear", "ntk"].get(value("scaling") as usize);
    let mut rope = json!({
        "layout": if value("layout") == 1.0 { "half" } else { "interleaved" },
        "base": value("base"),
        "qOffset": value("q_offset"),
        "kOffset": value("k_offset"),
        "scaling": scaling,
        "factor": value("factor"),
    });
    if value("dims") > 0.0 {
        rope["dims"] = json!(value("dims") as u64);
    }
    rope
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::cases;

    #[test]
    fn every_reference_case_is_a_call_of_attention_js() {
        let folder = crate::home::root().unwrap().join("tests/golden");
        for case in cases::read(&folder).unwrap() {
            let call = call(&case);
            assert!(call.is_some(), "{}", case.name);
            assert_eq!(call.unwrap()["sink"].is_array(), case.config.sink.is_some());
        }
    }
}
