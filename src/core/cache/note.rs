//! What a reader of a call's numbers should know besides.

use jiff::civil::Date;

use crate::core::fact::Name;
use crate::core::text::number::Thousands;

/// What a reader of the numbers should know besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// What was read is older than the vendor calls typical, in seconds: real traffic may find it gone.
    PastTypicalLife {
        /// Its age.
        age: i64,
        /// What is typical.
        typical: u32,
    },
    /// The prices are younger than the request: these hold from that day on.
    LaterPrices(Date),
    /// The request is long enough for the higher prices.
    LongContext,
    /// It comes at an hour with higher prices.
    Peak,
    /// This parameter, by which requests find their machine, has another value: real traffic may find nothing there.
    OtherMachine(Name),
    /// The prices are in this currency, which is not converted.
    Currency(Name),
    /// This parameter has a value with which everything costs so many thousandths of the ordinary price.
    Times {
        /// Its name.
        param: Name,
        /// By how much.
        times: u32,
    },
    /// This parameter has a value with which everything costs another price, which is not known.
    OtherPrice(Name),
}

impl Note {
    /// One short sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Note::PastTypicalLife { age, typical } => format!(
                "read after {} s, and {} s are typical: real traffic may find it gone.",
                Thousands(u64::try_from(*age).unwrap_or(0)),
                Thousands(*typical)
            ),
            Note::LaterPrices(day) => format!("prices in force from {day}, which is after this call."),
            Note::OtherMachine(name) => {
                format!("{name} has another value: the request may reach a machine that has nothing stored.")
            }
            Note::Peak => "at this hour its prices are higher.".to_owned(),
            Note::Currency(currency) => format!("prices are in {currency}, which is not converted."),
            Note::Times { param, times } => {
                format!("with this {param} everything costs x{}.", f64::from(*times) / 1_000.0)
            }
            Note::OtherPrice(param) => {
                format!("with this {param} everything costs another price, which is not known here.")
            }
            Note::LongContext => "so long a request has the higher prices.".to_owned(),
        }
    }

    /// True where it is about what is read, and not about what that costs.
    #[must_use]
    pub fn doubts_the_read(&self) -> bool {
        matches!(self, Note::PastTypicalLife { .. } | Note::OtherMachine(_))
    }
}
