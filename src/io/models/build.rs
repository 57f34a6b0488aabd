//! What a model file says becomes [`Model`]s, with the source of each value.

use super::entries::{
    AccountingWord, AutoMarkedEntry, BlockEntry, BoundaryWord, ConfidenceWord, Entry, ExcessWord,
    FactorEntry, File, GeneratedWord, LongEntry, MarkedEntry, OpaqueEntry, PeakEntry, PriceEntry, RadixEntry,
    ReasoningWord, ResourceEntry, SaltsEntry, SlotEntry, Sourced, UnitsEntry, VisibleEntry, WhenWord,
};
use crate::core::cache::{
    Accounting, AutoMarkedRules, BlockRules, Boundary, Confidence, Excess, Factor, Family, Generated, Known,
    Life, LongContext, Lookup, MarkedRules, Model, OpaqueRules, Peak, Price, RadixRules, Rate, Rates,
    Reasoning, ResourceRules, Salts, SlotRules, UnitRules, Visible, When,
};
use crate::core::fact::Name;
use crate::core::tokens::{Encoding, Method};
use crate::core::wire::PARAMS;

/// What is wrong, as a phrase.
pub(super) type Mistake = String;

impl From<AccountingWord> for Accounting {
    fn from(word: AccountingWord) -> Accounting {
        match word {
            AccountingWord::Inclusive => Accounting::Inclusive,
            AccountingWord::Exclusive => Accounting::Exclusive,
        }
    }
}

impl From<ReasoningWord> for Reasoning {
    fn from(word: ReasoningWord) -> Reasoning {
        match word {
            ReasoningWord::Kept => Reasoning::Kept,
            ReasoningWord::Stripped => Reasoning::Stripped,
            ReasoningWord::Replay => Reasoning::Replay,
        }
    }
}

impl From<GeneratedWord> for Generated {
    fn from(word: GeneratedWord) -> Generated {
        match word {
            GeneratedWord::No => Generated::No,
            GeneratedWord::Yes => Generated::Yes,
            GeneratedWord::Measured => Generated::Measured,
        }
    }
}

impl From<ExcessWord> for Excess {
    fn from(word: ExcessWord) -> Excess {
        match word {
            ExcessWord::Error => Excess::Error,
            ExcessWord::DropOldest => Excess::DropOldest,
        }
    }
}

impl From<BoundaryWord> for Boundary {
    fn from(word: BoundaryWord) -> Boundary {
        match word {
            BoundaryWord::LastMessage => Boundary::LastMessage,
            BoundaryWord::End => Boundary::End,
        }
    }
}

impl From<VisibleEntry> for Visible {
    fn from(entry: VisibleEntry) -> Visible {
        let when = match entry.when {
            WhenWord::Immediate => When::Immediate,
            WhenWord::BlockFull => When::BlockFull,
            WhenWord::FirstToken => When::FirstToken,
            WhenWord::ResponseEnd => When::ResponseEnd,
            WhenWord::Seconds => When::Seconds,
            WhenWord::Asynchronous => When::Asynchronous,
        };
        Visible { when, after: entry.after_ms }
    }
}

impl File {
    /// An entry with everything that it takes from the profiles it is like.
    fn complete(&self, entry: &Entry, depth: u32) -> Result<Entry, Mistake> {
        let Some(like) = &entry.like else { return Ok(entry.clone()) };
        let profile = self.profiles.get(like).or_else(|| self.models.get(like));
        let profile = profile.ok_or_else(|| format!("there is no profile `{like}` and no model"))?;
        if depth > 8 {
            return Err(format!("profile `{like}` is like itself"));
        }
        let mut complete = self.complete(profile, depth + 1)?;
        complete.take_over(entry.clone());
        Ok(complete)
    }

    fn known<T>(
        &self,
        value: T,
        source: Option<&str>,
        confidence: Option<ConfidenceWord>,
    ) -> Result<Known<T>, Mistake> {
        let Some(key) = source else {
            return Ok(Known {
                value,
                source: "your file".into(),
                checked: None,
                confidence: Confidence::User,
            });
        };
        let source = self.sources.get(key).ok_or_else(|| format!("there is no source `{key}`"))?;
        let checked = source.checked.as_deref().map(super::day).transpose()?;
        let confidence = match confidence {
            Some(ConfidenceWord::A) => Confidence::A,
            Some(ConfidenceWord::B) => Confidence::B,
            Some(ConfidenceWord::C) => Confidence::C,
            Some(ConfidenceWord::D) => Confidence::D,
            None => Confidence::User,
        };
        Ok(Known { value, source: source.name.as_str().into(), checked, confidence })
    }

    fn sourced<T: Clone, U: From<T>>(&self, sourced: &Sourced<T>) -> Result<Known<U>, Mistake> {
        self.known(sourced.value.clone().into(), sourced.source.as_deref(), sourced.confidence)
    }

    fn needed<T: Clone, U: From<T>>(
        &self,
        sourced: &Option<Sourced<T>>,
        key: &str,
    ) -> Result<Known<U>, Mistake> {
        self.sourced(sourced.as_ref().ok_or_else(|| format!("`{key}` is missing"))?)
    }

    fn optional<T: Clone, U: From<T>>(
        &self,
        sourced: &Option<Sourced<T>>,
    ) -> Result<Option<Known<U>>, Mistake> {
        sourced.as_ref().map(|sourced| self.sourced(sourced)).transpose()
    }

    pub(super) fn model(&self, id: &str, entry: &Entry) -> Result<Model, Mistake> {
        let entry = self.complete(entry, 0)?;
        let mut model = Model::unknown(id.into());
        if let Some(tokens) = &entry.tokens {
            let encoding = Encoding::named(&tokens.encoding)
                .ok_or_else(|| format!("there is no encoding `{}`", tokens.encoding))?;
            model.method = match tokens.factor {
                None => Method::Exact { encoding },
                Some(factor) if factor.is_finite() && factor > 0.0 => {
                    Method::Estimate { base: encoding, factor, error: tokens.error.unwrap_or(0.0) }
                }
                Some(factor) => return Err(format!("the factor {factor} is not above 0")),
            };
            model.method_from = Some(self.known((), tokens.source.as_deref(), tokens.confidence)?);
        }
        model.window = self.optional(&entry.window)?;
        model.framing = entry.framing.as_deref().map(Into::into);
        model.accounting = self.optional(&entry.accounting)?;
        model.routing = self.names(&entry.routing)?;
        model.reasoning = self.optional(&entry.reasoning)?;
        model.reliability = self.optional(&entry.reliability)?;
        if let Some(share) = model.reliability.as_ref().filter(|share| !(0.0..=1.0).contains(&share.value)) {
            return Err(format!("`reliability` is a share from 0 to 1, not {}", share.value));
        }
        if let Some(salts) = &entry.salts {
            model.salts = self.salts(salts)?;
        }
        for (key, about) in entry.about.iter().flatten() {
            model.about.insert(key.as_str().into(), self.sourced::<String, Name>(about)?);
        }
        model.family = self.family(&entry)?;
        let prices = entry.prices.iter().flatten().map(|price| self.price(price));
        model.prices = prices.collect::<Result<_, _>>()?;
        model.prices.sort_by_key(|price| price.from);
        let factors = entry.factors.iter().flatten().map(|factor| self.factor(factor));
        model.factors = factors.collect::<Result<_, _>>()?;
        for (param, default) in entry.defaults.iter().flatten() {
            model.defaults.insert(parameter(param)?.into(), self.sourced::<String, Name>(default)?);
        }
        Ok(model)
    }

    fn names(&self, names: &Option<Sourced<Vec<String>>>) -> Result<Option<Known<Vec<Name>>>, Mistake> {
        let Some(names) = names else { return Ok(None) };
        let value = names.value.iter().map(|name| Name::from(name.as_str())).collect();
        self.known(value, names.source.as_deref(), names.confidence).map(Some)
    }

    fn salts(&self, entry: &SaltsEntry) -> Result<Salts, Mistake> {
        Ok(Salts {
            tools: self.names(&entry.tools)?,
            system: self.names(&entry.system)?,
            messages: self.names(&entry.messages)?,
        })
    }

    fn family(&self, entry: &Entry) -> Result<Option<Family>, Mistake> {
        Ok(if let Some(entry) = &entry.block {
            Some(Family::Block(self.block(entry)?))
        } else if let Some(entry) = &entry.marked {
            Some(Family::Marked(self.marked(entry)?))
        } else if let Some(entry) = &entry.auto_marked {
            Some(Family::AutoMarked(self.auto_marked(entry)?))
        } else if let Some(entry) = &entry.units {
            Some(Family::Units(self.units(entry)?))
        } else if let Some(entry) = &entry.radix {
            Some(Family::Radix(self.radix(entry)?))
        } else if let Some(entry) = &entry.slot {
            Some(Family::Slot(self.slot(entry)?))
        } else if let Some(entry) = &entry.resource {
            Some(Family::Resource(self.resource(entry)?))
        } else if let Some(entry) = &entry.opaque {
            Some(Family::Opaque(self.opaque(entry)?))
        } else {
            None
        })
    }

    fn life(&self, max: &Option<Sourced<u32>>, typical: &Option<Sourced<u32>>) -> Result<Life, Mistake> {
        Ok(Life { max: self.optional(max)?, typical: self.optional(typical)? })
    }

    fn block(&self, entry: &BlockEntry) -> Result<BlockRules, Mistake> {
        let rules = BlockRules {
            block: self.needed(&entry.block, "block.block")?,
            min: self.needed(&entry.min, "block.min")?,
            life: self.life(&entry.max_life, &entry.typical_life)?,
            lives: self.optional(&entry.lives)?,
            visible: self.optional(&entry.visible)?,
            generated: self.optional(&entry.generated)?,
            recompute_last: self.optional(&entry.recompute_last)?,
            exact_resend: self.optional(&entry.exact_resend)?,
            hidden: self.optional(&entry.hidden)?,
            report: self.optional(&entry.report)?,
            room: self.optional(&entry.room)?,
        };
        if let Some(lives) = &rules.lives {
            ascending(&lives.value, "block.lives")?;
        }
        if rules.block.value == 0 { Err("a block has at least 1 token".into()) } else { Ok(rules) }
    }

    fn marked(&self, entry: &MarkedEntry) -> Result<MarkedRules, Mistake> {
        let mut visible: Known<Visible> = match (&entry.visible, &entry.visible_after_ms) {
            (None, Some(after)) => {
                let figure: Known<u32> = self.sourced(after)?;
                let value = Visible { when: When::FirstToken, after: figure.value };
                self.known(value, after.source.as_deref(), after.confidence)?
            }
            (visible, _) => self.needed(visible, "marked.visible")?,
        };
        if let (Some(after), true) = (&entry.visible_after_ms, entry.visible.is_some()) {
            visible.value.after = after.value;
        }
        let rules = MarkedRules {
            max_marks: self.needed(&entry.max_marks, "marked.max_marks")?,
            excess: self.optional(&entry.excess)?,
            lookback: self.needed(&entry.lookback, "marked.lookback")?,
            collapse: self.needed(&entry.collapse, "marked.collapse")?,
            min: self.needed(&entry.min, "marked.min")?,
            lives: self.needed(&entry.lives, "marked.lives")?,
            visible,
            automatic: self.optional(&entry.automatic)?,
            server_tools: self.optional(&entry.server_tools)?,
        };
        ascending(&rules.lives.value, "marked.lives")?;
        Ok(rules)
    }

    fn auto_marked(&self, entry: &AutoMarkedEntry) -> Result<AutoMarkedRules, Mistake> {
        let lookup = if entry.lookback.is_some() {
            Lookup::Walk {
                positions: self.needed(&entry.lookback, "auto_marked.lookback")?,
                collapse: self.needed(&entry.collapse, "auto_marked.collapse")?,
            }
        } else {
            Lookup::Ends {
                first: self.needed(&entry.first, "auto_marked.first` or `auto_marked.lookback")?,
                last: self.needed(&entry.last, "auto_marked.last")?,
                previous: self.needed(&entry.previous, "auto_marked.previous")?,
                instructions: self.needed(&entry.instructions, "auto_marked.instructions")?,
            }
        };
        let rules = AutoMarkedRules {
            boundary: self.needed(&entry.boundary, "auto_marked.boundary")?,
            max_marks: self.needed(&entry.max_marks, "auto_marked.max_marks")?,
            only_own: self.optional(&entry.only_own)?,
            excess: self.needed(&entry.excess, "auto_marked.excess")?,
            lookup,
            min: self.needed(&entry.min, "auto_marked.min")?,
            lives: self.needed(&entry.lives, "auto_marked.lives")?,
            renew: self.optional(&entry.renew)?,
            visible: self.needed(&entry.visible, "auto_marked.visible")?,
        };
        ascending(&rules.lives.value, "auto_marked.lives")?;
        Ok(rules)
    }

    fn units(&self, entry: &UnitsEntry) -> Result<UnitRules, Mistake> {
        Ok(UnitRules {
            min: self.needed(&entry.min, "units.min")?,
            life: self.life(&entry.max_life, &entry.typical_life)?,
            visible: self.needed(&entry.visible, "units.visible")?,
            generated: self.needed(&entry.generated, "units.generated")?,
            common: self.needed(&entry.common, "units.common")?,
        })
    }

    fn radix(&self, entry: &RadixEntry) -> Result<RadixRules, Mistake> {
        let rules = RadixRules {
            page: self.needed(&entry.page, "radix.page")?,
            generated: self.needed(&entry.generated, "radix.generated")?,
            room: self.optional(&entry.room)?,
        };
        if rules.page.value == 0 { Err("a page has at least 1 token".into()) } else { Ok(rules) }
    }

    fn slot(&self, entry: &SlotEntry) -> Result<SlotRules, Mistake> {
        let similarity: Known<f64> = self.needed(&entry.similarity, "slot.similarity")?;
        if !(0.0..=1.0).contains(&similarity.value) {
            return Err(format!("`slot.similarity` is a share from 0 to 1, not {}", similarity.value));
        }
        let rules = SlotRules {
            slots: self.needed(&entry.slots, "slot.slots")?,
            similarity: Known {
                value: (similarity.value * 1_000.0).round() as u32,
                source: similarity.source,
                checked: similarity.checked,
                confidence: similarity.confidence,
            },
            min_eval: self.needed(&entry.min_eval, "slot.min_eval")?,
            host: self.optional(&entry.host_tokens)?,
            generated: self.needed(&entry.generated, "slot.generated")?,
            checkpoint: self.optional(&entry.checkpoint)?,
        };
        if rules.slots.value == 0 { Err("a server has at least 1 slot".into()) } else { Ok(rules) }
    }

    fn resource(&self, entry: &ResourceEntry) -> Result<ResourceRules, Mistake> {
        let rules = ResourceRules {
            min: self.needed(&entry.min, "resource.min")?,
            lives: self.needed(&entry.lives, "resource.lives")?,
            any: entry.any_life.as_ref().is_some_and(|any| any.value),
            refresh: self.needed(&entry.refresh, "resource.refresh")?,
            chain: self.needed(&entry.chain, "resource.chain")?,
        };
        ascending(&rules.lives.value, "resource.lives")?;
        Ok(rules)
    }

    fn opaque(&self, entry: &OpaqueEntry) -> Result<OpaqueRules, Mistake> {
        Ok(OpaqueRules {
            min: self.needed(&entry.min, "opaque.min")?,
            life: self.life(&entry.max_life, &entry.typical_life)?,
            visible: self.optional(&entry.visible)?,
        })
    }

    fn factor(&self, entry: &FactorEntry) -> Result<Known<Factor>, Mistake> {
        let factor = Factor {
            param: parameter(&entry.param)?.into(),
            is: entry.is.as_str().into(),
            times: entry.times.map(times_of).transpose()?,
        };
        self.known(factor, entry.source.as_deref(), entry.confidence)
    }

    fn price(&self, entry: &PriceEntry) -> Result<Price, Mistake> {
        let from = (entry.source.as_deref(), entry.confidence);
        let ordinary = rates(
            &entry.input,
            &entry.read,
            one(&entry.write, &entry.write_5m)?,
            entry.write_1h.as_deref(),
            entry.output.as_deref(),
        )?;
        let tiers = entry.long.iter().chain(entry.tiers.iter().flatten());
        let mut long = tiers
            .map(|tier| self.known(tier_of(tier)?, from.0, from.1))
            .collect::<Result<Vec<_>, Mistake>>()?;
        long.sort_by_key(|tier| tier.value.above);
        let peak = entry.peak.as_ref().map(|peak| self.known(peak_of(peak)?, from.0, from.1)).transpose()?;
        let storage =
            entry.storage.as_deref().map(|text| self.known(rate(text)?, from.0, from.1)).transpose()?;
        Ok(Price {
            from: entry.from.as_deref().map(super::day).transpose()?,
            rates: self.known(ordinary, from.0, from.1)?,
            long,
            peak,
            storage,
            currency: entry.currency.as_deref().filter(|currency| *currency != "USD").map(Into::into),
        })
    }
}

fn ascending(lives: &[u32], key: &str) -> Result<(), Mistake> {
    if lives.is_empty() || !lives.is_sorted() {
        return Err(format!("`{key}` are seconds, ascending, at least one"));
    }
    Ok(())
}

/// The price of writing under either of its names.
fn one<'a>(write: &'a Option<String>, write_5m: &'a Option<String>) -> Result<Option<&'a str>, Mistake> {
    match (write, write_5m) {
        (Some(_), Some(_)) => Err("`write` and `write_5m` are two names for the same price".into()),
        (one, other) => Ok(one.as_deref().or(other.as_deref())),
    }
}

fn tier_of(tier: &LongEntry) -> Result<LongContext, Mistake> {
    let write = one(&tier.write, &tier.write_5m)?;
    let rates = rates(&tier.input, &tier.read, write, tier.write_1h.as_deref(), tier.output.as_deref())?;
    Ok(LongContext { above: tier.above, rates })
}

/// A parameter of requests.
fn parameter(name: &str) -> Result<&str, Mistake> {
    if PARAMS.iter().any(|(known, _)| *known == name) {
        return Ok(name);
    }
    Err(format!("there is no parameter `{name}`; there are {}", PARAMS.map(|(name, _)| name).join(", ")))
}

/// A factor for prices, in thousandths.
fn times_of(times: f64) -> Result<u32, Mistake> {
    if !(times.is_finite() && (0.0..=1_000.0).contains(&times)) {
        return Err(format!("{times} is not a factor for prices"));
    }
    Ok((times * 1_000.0).round() as u32)
}

fn peak_of(peak: &PeakEntry) -> Result<Peak, Mistake> {
    let hours = peak.hours.iter().map(|pair| match pair[..] {
        [from, to] if 0 <= from && from < to && to <= 24 => Ok((from, to)),
        _ => Err(format!("{pair:?} is not a pair of hours like [1, 4]")),
    });
    Ok(Peak {
        hours: hours.collect::<Result<_, _>>()?,
        weekdays: peak.weekdays,
        times: times_of(peak.times)?,
    })
}

fn rate(text: &str) -> Result<Rate, Mistake> {
    Rate::parse(text).ok_or_else(|| format!("`{text}` is not a price for a million tokens"))
}

fn rates(
    input: &str,
    read: &str,
    write: Option<&str>,
    write_1h: Option<&str>,
    output: Option<&str>,
) -> Result<Rates, Mistake> {
    Ok(Rates {
        input: rate(input)?,
        read: rate(read)?,
        write_5m: write.map(rate).transpose()?,
        write_1h: write_1h.map(rate).transpose()?,
        output: output.map(rate).transpose()?,
    })
}
