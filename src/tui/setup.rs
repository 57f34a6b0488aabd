//! What the settings make of the workbench: its theme and its keys, read at the start and again whenever one of the files
//! changes. What is broken is told, and what was good before stays.

use std::path::PathBuf;
use std::sync::Arc;

use super::theme::background::{self, Background};
use super::theme::{self, Depth, Theme};
use crate::app::keymap::Keymap;
use crate::app::setup::ThemeRow;
use crate::core::diagnostic::Diagnostic;
use crate::io::settings::themes::ThemeFiles;
use crate::io::settings::{Color, Origin, Settings, Sources, ThemeChoice};

/// Looks a variable of the environment up.
type Environment = Box<dyn Fn(&str) -> Option<String>>;

/// What the settings come to.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The settings.
    pub settings: Settings,
    /// The theme that they choose.
    pub theme: Theme,
    /// The keys.
    pub keymap: Arc<Keymap>,
    /// What is broken; the last good values stand for it, at the start the defaults.
    pub problems: Vec<Diagnostic>,
}

/// Reads the settings, as often as they change.
pub struct Reader {
    sources: Sources,
    environment: Environment,
    themes: ThemeFiles,
    ask: fn() -> Option<Background>,
    /// What the terminal said when it was asked; none while it was not.
    background: Option<Option<Background>>,
    last: Option<Setup>,
}

impl Reader {
    /// A reader that has read nothing yet. `environment` looks a variable up.
    pub fn new(sources: Sources, environment: impl Fn(&str) -> Option<String> + 'static) -> Reader {
        let themes = ThemeFiles { folder: sources.places.themes() };
        let environment: Environment = Box::new(environment);
        Reader { sources, environment, themes, ask: background::ask, background: None, last: None }
    }

    /// Reads for the first time, before the terminal is taken: it may be asked for its background, once. A broken file is
    /// a problem of the setup.
    ///
    /// # Errors
    ///
    /// What is wrong with a theme that the command line or the environment names, or with a settings file that was named
    /// and is not there.
    pub fn start(&mut self) -> Result<Setup, Vec<Diagnostic>> {
        let places = &self.sources.places;
        if places.named && places.file.as_ref().is_some_and(|file| !file.exists()) {
            self.sources.read()?;
        }
        let wants = self.sources.read().unwrap_or_else(|_| self.sources.without_own());
        if matches!(wants.theme.value, ThemeChoice::ByBackground { .. })
            && background::may_ask(&self.environment)
        {
            self.background = Some((self.ask)());
        }
        let setup = self.read();
        let named = matches!(setup.settings.theme.origin, Origin::Flag(_) | Origin::Environment(_));
        if named && let Err(problems) = self.choose(&setup.settings) {
            return Err(problems);
        }
        Ok(setup)
    }

    /// Reads again. Settings, keys and theme are looked at one by one: what is broken keeps its last good value.
    pub fn read(&mut self) -> Setup {
        let mut problems = Vec::new();
        let good = self.last.as_ref();
        let (settings, keymap) = match self.sources.read() {
            Ok(settings) => {
                let keymap = settings.keys.as_ref().map_or_else(|| Ok(Keymap::default()), Keymap::new);
                (settings, keymap.map(Arc::new))
            }
            Err(found) => {
                let settings = good.map(|good| good.settings.clone());
                (settings.unwrap_or_else(|| self.sources.without_own()), Err(found))
            }
        };
        let keymap = keymap.unwrap_or_else(|found| {
            problems.extend(found);
            good.map_or_else(Arc::default, |good| good.keymap.clone())
        });
        let theme = self.choose(&settings).unwrap_or_else(|found| {
            problems.extend(found);
            match &self.last {
                Some(last) => last.theme.clone(),
                None => Theme::built_in("ansi", self.depth(&settings)).unwrap_or_else(Theme::plain),
            }
        });
        let setup = Setup { settings, theme, keymap, problems };
        self.last = Some(setup.clone());
        setup
    }

    fn depth(&self, settings: &Settings) -> Depth {
        // Who names a theme on the command line wants its colours, whatever the environment says of all programs.
        let named = matches!(settings.theme.origin, Origin::Flag(_));
        let color = match settings.color.origin {
            Origin::Environment("NO_COLOR") if named => Color::Auto,
            _ => settings.color.value,
        };
        Depth::of(color, &self.environment)
    }

    /// The theme that the settings choose.
    fn choose(&self, settings: &Settings) -> Result<Theme, Vec<Diagnostic>> {
        let depth = self.depth(settings);
        let name = if depth == Depth::None && !matches!(settings.theme.origin, Origin::Flag(_)) {
            // What other themes say by colours alone, this one says by weight.
            "mono"
        } else {
            match &settings.theme.value {
                ThemeChoice::Named(name) => name,
                ThemeChoice::ByBackground { light, dark, fallback } => match self.background.flatten() {
                    Some(Background::Light) => light,
                    Some(Background::Dark) => dark,
                    None => fallback,
                },
            }
        };
        theme::load(&self.themes, name, depth).map(|loaded| loaded.theme).map_err(|problems| {
            let place = |problem: Diagnostic| match problem.file {
                // A theme that cannot be found is a mistake of whoever names it.
                None => settings.theme.origin.locate(problem),
                Some(_) => problem,
            };
            problems.into_iter().map(place).collect()
        })
    }

    /// A theme that was chosen from the list.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in one line.
    pub fn theme(&self, name: &str) -> Result<Theme, String> {
        let depth = self.last.as_ref().map_or(Depth::Sixteen, |last| self.depth(&last.settings));
        theme::load(&self.themes, name, depth)
            .map(|loaded| loaded.theme)
            .map_err(|problems| problems.first().map_or_else(String::new, crate::app::setup::in_one_line))
    }

    /// The themes that there are.
    #[must_use]
    pub fn themes(&self) -> Vec<ThemeRow> {
        let row = |name: String| {
            let found = self.themes.find(&name, None);
            let about = found.as_ref().map_or_else(|problem| problem.message.clone(), theme::about);
            ThemeRow { name: name.into(), about: about.into() }
        };
        self.themes.names().into_iter().map(row).collect()
    }

    /// The files that decide, whether they exist or not: where one of them changes, there is something to read.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = self.sources.files();
        if let Some(folder) = &self.themes.folder {
            files.push(folder.clone());
            files.extend(self.themes.names().iter().map(|name| folder.join(format!("{name}.yaml"))));
        }
        let named = self.last.as_ref().map(|last| last.settings.theme.value.clone());
        let paths = match named {
            Some(ThemeChoice::Named(name)) => vec![name],
            Some(ThemeChoice::ByBackground { light, dark, fallback }) => vec![light, dark, fallback],
            None => Vec::new(),
        };
        let here = std::env::current_dir().unwrap_or_default();
        files.extend(
            paths
                .iter()
                .filter(|name| crate::io::settings::values::is_path(name))
                .map(|name| here.join(&**name)),
        );
        files.iter().map(|file| here.join(file)).collect()
    }

    /// The folder of the settings; none where the user has no home.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        self.sources.places.folder.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::app::action::Action;
    use crate::io::settings::place::Places;
    use crate::io::settings::{Given, Setting};

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            Place(tempfile::tempdir().expect("a folder"))
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }

        fn reader(&self, flags: Given, environment: &'static [(&'static str, &'static str)]) -> Reader {
            let look = move |name: &str| {
                environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            let folder = self.0.path().to_owned();
            let places =
                Places { file: Some(folder.join("config.yaml")), folder: Some(folder), ..Places::default() };
            let environment = Given::of_environment(&look).expect("it is right");
            let mut reader = Reader::new(Sources { flags, environment, bench: None, places }, look);
            reader.ask = || panic!("the terminal is not to be asked");
            reader
        }
    }

    fn named(theme: &str) -> Given {
        Given {
            theme: Some(Setting::new(ThemeChoice::read(theme), Origin::Flag("--theme"))),
            ..Given::default()
        }
    }

    #[test]
    fn the_terminal_is_asked_only_where_the_theme_depends_on_it() {
        let place = Place::new();
        let theme = |reader: &mut Reader| reader.start().expect("a setup").theme.name().to_owned();
        assert_eq!(theme(&mut place.reader(Given::default(), &[])), "ansi");
        place.write("config.yaml", "theme: { light: light, dark: dark, fallback: mono }\n");
        for (says, want) in [
            ((|| Some(Background::Light)) as fn() -> _, "light"),
            (|| Some(Background::Dark), "dark"),
            (|| None, "mono"),
        ] {
            let mut reader = place.reader(Given::default(), &[("TERM", "xterm-256color")]);
            reader.ask = says;
            assert_eq!(theme(&mut reader), want);
            // Once: what it said holds.
            reader.ask = || panic!("asked again");
            assert_eq!(reader.read().theme.name(), want);
        }
        let far = &[("TMUX", "x"), ("SSH_TTY", "y"), ("TERM", "screen-256color")];
        assert_eq!(theme(&mut place.reader(Given::default(), far)), "mono", "the fallback, unasked");
        assert_eq!(theme(&mut place.reader(named("dark"), &[])), "dark", "the flag wins");
    }

    #[test]
    fn without_colours_the_theme_is_mono_unless_the_flag_names_one() {
        let place = Place::new();
        place.write("config.yaml", "theme: dark\n");
        let theme = |flags: Given, environment: &'static [(&'static str, &'static str)]| {
            place.reader(flags, environment).start().expect("a setup").theme
        };
        assert_eq!(theme(Given::default(), &[("NO_COLOR", "1")]).name(), "mono");
        assert_eq!(theme(Given::default(), &[("TERM", "dumb")]).name(), "mono");
        let light = theme(named("light"), &[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]);
        assert_eq!(light, Theme::built_in("light", Depth::True).expect("a theme"));
        assert_eq!(theme(Given::default(), &[("NO_COLOR", "1"), ("PLYWOOD_THEME", "light")]).name(), "light");
    }

    #[test]
    fn what_is_broken_keeps_its_last_good_value() {
        let place = Place::new();
        place.write("config.yaml", "theme: mine\nmouse: false\nkeys: { send: f5 }\n");
        place.write("themes/mine.yaml", "inherits: dark\n");
        let mut reader = place.reader(Given::default(), &[]);
        let setup = reader.start().expect("a setup");
        assert!(setup.problems.is_empty() && setup.theme.name() == "mine" && !setup.settings.mouse.value);

        place.write("themes/mine.yaml", "roles: { text: rad }\n");
        let setup = reader.read();
        assert_eq!((setup.problems.len(), setup.theme.name()), (1, "mine"));
        assert_eq!(setup.problems[0].message, "`rad` is no colour");

        place.write("config.yaml", "theme: light\nkeys: { send: hyper }\n");
        let setup = reader.read();
        assert_eq!((setup.problems.len(), setup.theme.name()), (1, "light"), "the theme is right");
        assert_eq!(setup.keymap.shown_key(Action::Send), "F5", "the keys are those from before");

        place.write("config.yaml", "theme: [\n");
        let setup = reader.read();
        assert_eq!((setup.problems.len(), setup.theme.name()), (1, "light"));

        place.write("config.yaml", "");
        let setup = reader.read();
        assert!(setup.problems.is_empty());
        assert_eq!((setup.theme.name(), setup.keymap.shown_key(Action::Send).as_str()), ("ansi", "Space"));
    }

    #[test]
    fn a_broken_file_at_the_start_leaves_the_defaults() {
        let place = Place::new();
        place.write("config.yaml", "thme: dark\n");
        let setup = place.reader(Given::default(), &[]).start().expect("a setup");
        assert_eq!((setup.problems.len(), setup.theme.name()), (1, "ansi"));
        // A theme that the file names and that is not there is told with its place in the file.
        place.write("config.yaml", "mouse: true\ntheme: drak\n");
        let setup = place.reader(Given::default(), &[]).start().expect("a setup");
        assert_eq!(setup.problems[0].at.expect("a place").to_string(), "2:8");
        assert_eq!(setup.problems[0].hint.as_deref(), Some("did you mean `dark`?"));
        // On the command line it is a usage error.
        let problems = place.reader(named("drak"), &[]).start().expect_err("a slip");
        assert_eq!(problems[0].message, "--theme: there is no theme `drak`");
    }

    #[test]
    fn what_decides_is_watched() {
        let place = Place::new();
        place.write("config.yaml", "theme: ./away/mine.yaml\n");
        place.write("away/mine.yaml", "inherits: light\n");
        place.write("themes/other.yaml", "");
        let mut reader = place.reader(Given::default(), &[]);
        assert_eq!(reader.start().expect("a setup").theme.name(), "mine");
        let files = reader.files();
        for name in ["config.yaml", "themes", "themes/other.yaml", "themes/dark.yaml", "./away/mine.yaml"] {
            assert!(files.contains(&place.0.path().join(name)), "{name} in {files:?}");
        }
    }
}
