//! From the options of `cases.json` to a [`Config`]. An option that is not known, or that says nothing without another,
//! is refused: a case that is checked with half of its options proves nothing.

use attention::masks::MaskUse;
use attention::param::Value as Setting;
use attention::positions::PositionUse;
use attention::{Config, Scale, Shape};
use serde_json::{Map, Value};

/// What was wrong, as a sentence.
type Result<T> = std::result::Result<T, String>;

/// The options that have not been read yet.
struct Options {
    left: Map<String, Value>,
}

impl Options {
    fn take(&mut self, key: &str) -> Option<Value> {
        self.left.remove(key)
    }

    fn number(&mut self, key: &str) -> Result<Option<f64>> {
        self.take(key)
            .map(|v| {
                v.as_f64()
                    .ok_or_else(|| format!("{key}: expected a number, got {v}."))
            })
            .transpose()
    }

    fn count(&mut self, key: &str) -> Result<Option<usize>> {
        let read = |v: Value| {
            v.as_u64()
                .and_then(|n| usize::try_from(n).ok())
                .ok_or_else(|| format!("{key}: expected a whole number from 0 on, got {v}."))
        };
        self.take(key).map(read).transpose()
    }

    fn text(&mut self, key: &str) -> Result<Option<String>> {
        let read = |v: Value| {
            v.as_str()
                .map(str::to_owned)
                .ok_or_else(|| format!("{key}: expected a name, got {v}."))
        };
        self.take(key).map(read).transpose()
    }

    fn size(&mut self, key: &str) -> Result<usize> {
        self.count(key)?
            .ok_or_else(|| format!("{key}: expected a whole number, got nothing."))
    }
}

/// The call that the options of one case describe.
pub fn to_config(options: &Value) -> Result<Config> {
    let left = options
        .as_object()
        .ok_or("expected an object of options.")?
        .clone();
    let mut o = Options { left };
    // How the inputs were drawn; they are given.
    o.take("name");
    o.take("magnitude");
    let mut config = Config::new(Shape {
        heads: o.size("h")?,
        kv_heads: o.size("g")?,
        n_q: o.size("n_q")?,
        n_k: o.size("n_k")?,
        d_k: o.size("d_k")?,
        d_v: o.size("d_v")?,
    });
    if let Some(scale) = o.number("scale")? {
        config.scale = Scale::Custom(scale);
    }
    config.soft_cap = o.number("softcap")?;
    config.qk_norm = o.number("qk_norm")?;
    if let Some(sink) = o.take("sink") {
        let logits = sink
            .as_array()
            .and_then(|a| a.iter().map(Value::as_f64).collect());
        config.sink =
            Some(logits.ok_or_else(|| format!("sink: expected an array of numbers, got {sink}."))?);
    }
    masks(&mut o, &mut config)?;
    positions(&mut o, &mut config)?;
    match o.left.iter().next() {
        None => Ok(config),
        Some((key, value)) => Err(format!(
            "the option {key} ({value}) is not known, or says nothing without another. \
             Teach it to src/xtask/golden/options.rs or take it out."
        )),
    }
}

fn masks(o: &mut Options, config: &mut Config) -> Result<()> {
    let mut add = |id: &str, settings: &[(&str, Setting)]| {
        config
            .masks
            .push(MaskUse::new(id, settings).map_err(|e| e.to_string())?);
        Ok::<_, String>(())
    };
    if let Some(align) = o.text("causal")? {
        let prefix = o.count("prefix")?.unwrap_or(0);
        add(
            "causal",
            &[("align", align.as_str().into()), ("prefix", prefix.into())],
        )?;
    }
    if let Some(size) = o.count("window")? {
        let kept = o.count("keep_first")?.unwrap_or(0);
        add(
            "window",
            &[("size", size.into()), ("keep_first", kept.into())],
        )?;
    }
    if let Some(length) = o.count("key_length")? {
        add("padding", &[("key_length", length.into())])?;
    }
    Ok(())
}

fn positions(o: &mut Options, config: &mut Config) -> Result<()> {
    let mut add = |id: &str, settings: &[(&str, Setting)]| {
        config
            .positions
            .push(PositionUse::new(id, settings).map_err(|e| e.to_string())?);
        Ok::<_, String>(())
    };
    if let Some(layout) = o.text("rope")? {
        let mut settings: Vec<(&str, Setting)> = vec![("layout", layout.as_str().into())];
        if let Some(dims) = o.count("rope_dims")? {
            settings.push(("dims", dims.into()));
        }
        if let Some(base) = o.number("theta")? {
            settings.push(("base", base.into()));
        }
        if let Some(offset) = o.count("q_offset")? {
            settings.push(("q_offset", offset.into()));
        }
        let scaling = o.take("rope_scaling").unwrap_or(Value::Null);
        let kind = scaling["kind"].as_str().unwrap_or_default();
        if let Some(fields) = scaling.as_object() {
            let factor = fields.get("factor").and_then(Value::as_f64);
            let factor = factor
                .filter(|_| fields.len() == 2 && !kind.is_empty())
                .ok_or_else(|| {
                    format!(
                        "rope_scaling: expected kind and factor and nothing else, got {scaling}."
                    )
                })?;
            settings.extend([("scaling", kind.into()), ("factor", factor.into())]);
        } else if !scaling.is_null() {
            return Err(format!(
                "rope_scaling: expected kind and factor, got {scaling}."
            ));
        }
        add("rope", &settings)?;
    }
    match o.take("alibi") {
        None | Some(Value::Bool(false)) => Ok(()),
        Some(Value::Bool(true)) => add("alibi", &[]),
        Some(other) => Err(format!("alibi: expected true or false, got {other}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(extra: Value) -> Result<Config> {
        let mut options =
            json!({"name": "x", "h": 4, "g": 2, "n_q": 6, "n_k": 6, "d_k": 8, "d_v": 3});
        let (Some(all), Some(extra)) = (options.as_object_mut(), extra.as_object()) else {
            return Err("no object".into());
        };
        all.extend(extra.clone());
        to_config(&options)
    }

    #[test]
    fn every_option_of_the_reference_cases_is_read() {
        let config = with(json!({
            "scale": 0.5, "magnitude": 7.0, "softcap": 10.0, "qk_norm": 1e-6, "sink": [0.0, 1.0, 2.0, 3.0],
            "causal": "square", "prefix": 2, "window": 3, "keep_first": 1, "key_length": 5, "alibi": true,
            "rope": "half", "rope_dims": 4, "theta": 5e5, "q_offset": 5,
            "rope_scaling": {"kind": "ntk", "factor": 4.0},
        }))
        .unwrap();
        assert_eq!(
            (config.shape.heads, config.shape.kv_heads, config.shape.d_v),
            (4, 2, 3)
        );
        assert_eq!(config.scale, Scale::Custom(0.5));
        assert_eq!((config.soft_cap, config.qk_norm), (Some(10.0), Some(1e-6)));
        assert_eq!(
            config.sink.as_deref(),
            Some([0.0, 1.0, 2.0, 3.0].as_slice())
        );
        assert_eq!(
            config.masks.iter().map(|m| m.scheme.id).collect::<Vec<_>>(),
            ["causal", "window", "padding"]
        );
        assert_eq!(config.masks[0].value("prefix"), Some(2.0));
        assert_eq!(
            (
                config.masks[1].value("size"),
                config.masks[1].value("keep_first")
            ),
            (Some(3.0), Some(1.0))
        );
        assert_eq!(config.masks[2].value("key_length"), Some(5.0));
        let [rope, alibi] = config.positions.as_slice() else {
            panic!("two schemes")
        };
        assert_eq!((rope.scheme.id, alibi.scheme.id), ("rope", "alibi"));
        for (key, value) in [
            ("dims", 4.0),
            ("base", 5e5),
            ("q_offset", 5.0),
            ("factor", 4.0),
        ] {
            assert_eq!(rope.value(key), Some(value), "{key}");
        }
        assert!(attention::AttentionSpec::new(config).is_ok());
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (extra, part) in [
            (
                json!({"dropout": 0.1}),
                "the option dropout (0.1) is not known",
            ),
            (json!({"prefix": 2}), "prefix"),
            (json!({"keep_first": 2}), "keep_first"),
            (json!({"theta": 2.0}), "theta"),
            (json!({"causal": "sideways"}), "sideways"),
            (
                json!({"rope": "half", "rope_scaling": {"kind": "yarn", "factor": 2.0}}),
                "yarn",
            ),
            (
                json!({"rope": "half", "rope_scaling": {"kind": "ntk", "factor": 2.0, "beta": 1}}),
                "beta",
            ),
            (json!({"window": -1}), "window: expected a whole number"),
            (json!({"scale": "big"}), "scale: expected a number"),
            (
                json!({"sink": [1, "x"]}),
                "sink: expected an array of numbers",
            ),
            (json!({"alibi": 1}), "alibi: expected true or false"),
        ] {
            let why = with(extra.clone()).unwrap_err();
            assert!(why.contains(part), "{extra}: {why}");
        }
    }
}
