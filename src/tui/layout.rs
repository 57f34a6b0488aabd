//! Where things stand on a screen of any size.

use ratatui::layout::Rect;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Not enough to show anything but that.
    TooSmall,
    /// One pane at a time, with the names of the others.
    Single,
    /// All panes without boxes, the verdict in pane 4: 80x24.
    Stage,
    /// All panes in boxes, with the verdict below: from 100x30 on.
    Wide,
}

/// The rectangles of a screen. What is not shown is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How much room there is.
    pub size: Size,
    /// Title, agent and model.
    pub header: Rect,
    /// The panes in order, boxes and title rows included.
    pub panes: [Rect; 4],
    /// The box of the verdict.
    pub verdict: Rect,
    /// The band of captions.
    pub caption: Rect,
    /// The row above the keys.
    pub status: Rect,
    /// The row of keys.
    pub footer: Rect,
}

/// What the content would like to have, for dividing the room.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes {
    /// Rows of the header in a wide screen.
    pub header: u16,
    /// Rows of the layers, without heads, total and borders.
    pub layers: u16,
    /// Lines of the calls, without heads and borders.
    pub calls: u16,
    /// Rows of the verdict, without borders.
    pub verdict: u16,
    /// Rows of captions.
    pub caption: u16,
}

/// The narrowest and lowest screens of each size, in cells.
const WIDE: (u16, u16) = (100, 30);
const STAGE: (u16, u16) = (60, 18);
const SINGLE: (u16, u16) = (16, 4);

/// Divides `area`. `focus` is the index of the focused pane; with `whole` it gets the room of all four.
#[must_use]
pub fn layout(area: Rect, focus: usize, whole: bool, wishes: Wishes) -> Layout {
    let fits = |(width, height): (u16, u16)| area.width >= width && area.height >= height;
    let size = if fits(WIDE) {
        Size::Wide
    } else if fits(STAGE) {
        Size::Stage
    } else if fits(SINGLE) {
        Size::Single
    } else {
        Size::TooSmall
    };
    let mut out = Layout {
        size,
        header: Rect::ZERO,
        panes: [Rect::ZERO; 4],
        verdict: Rect::ZERO,
        caption: Rect::ZERO,
        status: Rect::ZERO,
        footer: Rect::ZERO,
    };
    let mut rest = area;
    match size {
        Size::TooSmall => {}
        Size::Single => {
            out.header = take_top(&mut rest, 1);
            if rest.height > 4 {
                out.footer = take_bottom(&mut rest, 1);
            }
            if rest.height > 8 {
                out.caption = take_bottom(&mut rest, wishes.caption);
            }
            out.panes[focus.min(3)] = rest;
        }
        Size::Stage => {
            out.header = take_top(&mut rest, 1);
            out.footer = take_bottom(&mut rest, 1);
            out.caption = take_bottom(&mut rest, wishes.caption);
            if whole {
                out.panes[focus.min(3)] = rest;
                return out;
            }
            // Why needs three rows to say the verdict; what the request gets beyond seven is shared.
            let spare = rest.height.saturating_sub(22);
            let why = 4 + spare / 4;
            let lists = (wishes.layers + 2).max(wishes.calls + 1).clamp(6, 10 + spare / 2);
            let lists = lists.min(rest.height.saturating_sub(why + 3)).max(3);
            let top = take_top(&mut rest, lists);
            let left = top.width * 39 / 80;
            out.panes[0] = Rect { width: left, ..top };
            out.panes[1] = Rect { x: top.x + left, width: top.width - left, ..top };
            out.panes[3] = take_bottom(&mut rest, why);
            out.panes[2] = rest;
        }
        Size::Wide => {
            out.header = take_top(&mut rest, wishes.header.clamp(3, 5));
            out.footer = take_bottom(&mut rest, 1);
            out.status = take_bottom(&mut rest, 1);
            out.caption = take_bottom(&mut rest, wishes.caption);
            out.verdict = take_bottom(&mut rest, wishes.verdict.clamp(2, 4) + 2);
            if whole {
                out.panes[focus.min(3)] = rest;
                return out;
            }
            let lists = (wishes.layers + 4).max(wishes.calls + 3);
            let lists = lists.clamp(9, (rest.height * 11 / 20).max(9)).min(rest.height.saturating_sub(6));
            let top = take_top(&mut rest, lists);
            let left = area.width * 17 / 30;
            for (at, row) in [top, rest].into_iter().enumerate() {
                out.panes[at * 2] = Rect { width: left, ..row };
                out.panes[at * 2 + 1] = Rect { x: row.x + left, width: row.width - left, ..row };
            }
        }
    }
    out
}

fn take_top(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    let taken = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    taken
}

fn take_bottom(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    rest.height -= height;
    Rect { y: rest.y + rest.height, height, ..*rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_tile_the_screen() {
        let wishes = Wishes { header: 3, layers: 10, calls: 12, verdict: 2, caption: 2 };
        for width in 1..=210 {
            for height in 1..=70 {
                for whole in [false, true] {
                    let area = Rect::new(0, 0, width, height);
                    let out = layout(area, 2, whole, wishes);
                    let mut covered = 0;
                    for rect in out.panes.into_iter().chain([
                        out.header,
                        out.verdict,
                        out.caption,
                        out.status,
                        out.footer,
                    ]) {
                        assert_eq!(rect.intersection(area).area(), rect.area(), "{width}x{height} {rect:?}");
                        covered += rect.area();
                    }
                    let want = if out.size == Size::TooSmall { 0 } else { area.area() };
                    assert_eq!(covered, want, "{width}x{height} {out:?}");
                }
            }
        }
    }

    #[test]
    fn the_sizes_of_the_two_screens() {
        let wishes = Wishes { header: 3, layers: 9, calls: 9, verdict: 2, caption: 0 };
        let stage = layout(Rect::new(0, 0, 80, 24), 0, false, wishes);
        assert_eq!(stage.panes.map(|pane| pane.height), [10, 10, 8, 4]);
        let wide = layout(Rect::new(0, 0, 120, 40), 0, false, wishes);
        assert_eq!(
            wide.panes.map(|pane| (pane.width, pane.height)),
            [(68, 13), (52, 13), (68, 18), (52, 18)]
        );
    }
}
