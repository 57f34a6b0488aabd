//! Who can go on by hand, and with what.

use std::sync::Arc;

use crate::core::fact::Name;
use crate::core::wire::CallNo;

/// For whom something can be said by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speaker {
    /// For the user: no request waits that anybody has asked for.
    #[default]
    User,
    /// For the model: the call that is looked at can be answered.
    Model,
}

/// What can be said by hand at the call that is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByHand {
    /// For whom.
    pub speaker: Speaker,
    /// The call that is answered, or that would come next.
    pub call: CallNo,
    /// True where nobody but a hand answers the request that waits: the script holds no answer.
    pub waits: bool,
    /// What the user said before the call, where that can be said otherwise.
    pub said: Option<Arc<str>>,
    /// The tools that the model is offered in the call.
    pub tools: Arc<[OfferedTool]>,
    /// The latest thing that was composed and is shown before it is said.
    pub drafted: Option<Drafted>,
    /// True when something happened by hand that is worth saving as a run.
    pub worth_saving: bool,
}

/// A tool that the model is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedTool {
    /// Its name.
    pub name: Name,
    /// Its definition, JSON.
    pub definition: Arc<str>,
    /// What the bench says that it does, and with that its result; none where the result is typed.
    pub does: Option<Arc<str>>,
}

/// Something that is composed by hand and not said yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drafted {
    /// Its number.
    pub serial: u32,
    /// True when what this snapshot shows is what it would do; false where no request would wait then.
    pub shown: bool,
    /// Why it cannot be said: one sentence, lower case, without a full stop.
    pub problem: Option<Arc<str>>,
}
