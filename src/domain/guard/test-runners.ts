/** How a program is called that runs tests or checks code. */
export interface TestRunner {
  /** The words that begin the call, after the program. */
  readonly begins: readonly RegExp[];
  /** Options without a value. */
  readonly flags: RegExp;
  /** Options with a value, as the next word or behind an equals sign. The value picks tests or says how long. */
  readonly values: readonly string[];
  /** What its other words are: files of the worktree, names of tests or of packages, or nothing. Files when left out. */
  readonly words?: "names" | "none";
  /** What the words and values look like, where not every text is harmless. */
  readonly form?: { readonly word?: RegExp; readonly value?: RegExp };
  /** Which program gets the words is not known: a value may be a file there. */
  readonly unknown?: true;
  /** One of the words must be this: without it the program does something else. */
  readonly needs?: RegExp;
  /** With these words in a row it does something else all the same. */
  readonly unless?: RegExp;
}

interface TestRunners {
  /** Programs that run tests of the project. */
  readonly testRunners: Readonly<Record<string, readonly TestRunner[]>>;
  /** Runners that an interpreter is given as a module: `python -m pytest`. */
  readonly moduleRunners: Readonly<Record<string, TestRunner>>;
  /** Scripts of a project that test when they are told to. */
  readonly testScripts: Readonly<Record<string, TestRunner>>;
}

let known: TestRunners | undefined;

/** Made when it is first asked for: most calls of the guard need none of these patterns, and each takes time to read. */
export function knownRunners(): TestRunners {
  known ??= makeRunners();
  return known;
}

function makeRunners(): TestRunners {
  const none = /^$/;

  const jest: TestRunner = {
    begins: [],
    flags:
      /^(-i|--(ci|runInBand|runTestsByPath|bail|verbose|silent|no-cache|no-coverage|forceExit|detectOpenHandles|passWithNoTests|colors|watchAll=false|watch=false|coverage=false|maxWorkers=[\d%]+))$/,
    values: ["-t", "--testNamePattern", "--testPathPattern", "--testPathPatterns", "--testTimeout"],
  };
  const vitest: TestRunner = {
    begins: [],
    flags:
      /^(run|--(run|bail=\d+|silent|no-coverage|no-color|watch=false|reporter=(default|verbose|dot|tap|basic|json)))$/,
    values: ["-t", "--testNamePattern", "--testTimeout"],
    // Without it vitest waits for changes.
    needs: /^(--)?run$/,
  };
  const mocha: TestRunner = {
    begins: [],
    flags: /^(-b|--bail|--exit|--no-color|--reporter=(spec|dot|tap|min|json))$/,
    values: ["-g", "--grep", "-f", "--fgrep", "-t", "--timeout"],
  };
  const playwright: TestRunner = {
    begins: [/^test$/],
    flags: /^--(list|reporter=(list|line|dot|json)|workers=\d+|project=[\w -]+|quiet)$/,
    values: ["-g", "--grep"],
  };
  const pytest: TestRunner = {
    begins: [],
    flags:
      /^(-[qvsxl]+|-r[A-Za-z]+|--(exitfirst|verbose|quiet|no-header|no-summary|collect-only|co|lf|last-failed|ff|failed-first|nf|sw|stepwise|disable-warnings|strict-markers|no-cov|showlocals|cov(=[\w./-]+)?|cov-report=term(-missing)?))$/,
    values: ["-k", "-m", "--maxfail", "--tb", "-n", "--durations", "--timeout", "--color", "--deselect"],
    // Older versions evaluate these expressions as code.
    form: { value: /^[\w .:/[\]-]+$/ },
  };
  const unittest: TestRunner = {
    begins: [],
    flags: /^(-[vqfb]+|discover)$/,
    values: ["-k", "-s", "--start-directory", "-p", "--pattern", "-t", "--top-level-directory"],
    unknown: true,
  };

  /** A script of the project whose name says that it tests or checks. What stands behind it goes to a program that is not known. */
  const script: Omit<TestRunner, "begins"> = {
    flags:
      /^(--|-s|--silent|--bail|-i|--run|--ci|--coverage|--quiet|--verbose|--watch=false|--workspaces|--if-present|--reporter=(spec|dot|tap|min|list|verbose|basic|default))$/,
    values:
      "-t -g -k -w --workspace --grep --testNamePattern --test-name-pattern --timeout --max-warnings --maxWorkers".split(
        " ",
      ),
    unknown: true,
  };
  const onlyLooks =
    /^(?!.*(fix|write|update|watch))(tests?|spec|lint|typecheck|type-check|types|check|check-types|format-check|format:check|fmt:check|prettier:check|validate)(:[\w:-]+)?$/;
  const scripts: readonly TestRunner[] = [
    { ...script, begins: [/^(t|test)$/] },
    { ...script, begins: [/^(-s|--silent)$/, /^(t|test)$/] },
    { ...script, begins: [/^run(-script)?$/, onlyLooks] },
    { ...script, begins: [/^(-s|--silent)$/, /^run$/, onlyLooks] },
    { ...script, begins: [/^run$/, /^(-s|--silent)$/, onlyLooks] },
  ];
  /** These run a script also without the word `run`. */
  const shortScripts: readonly TestRunner[] = [...scripts, { ...script, begins: [onlyLooks] }];

  /** Targets and tasks by their names. */
  const targets: TestRunner = {
    begins: [/^(?!.*(fix|write|update|watch|install))((tests?|check|lint)([-_:.][\w-]+)?|typecheck|unit|unit-tests?)$/],
    flags: none,
    values: [],
    words: "none",
  };

  const goPackages = { word: /^\.($|\/)/ };

  const mavenWords: TestRunner = {
    begins: [],
    flags: /^(-[qoBeU]|-ntp|test|verify|surefire:test|-Dtest=[\w.#*,+$-]+|-DfailIfNoTests=\w+|-Dsurefire\.[\w.]+=\w+)$/,
    values: ["-pl"],
    words: "none",
    form: { value: /^[\w:,./-]+$/ },
    needs: /^(test|verify|surefire:test)$/,
  };
  const gradleWords: TestRunner = {
    begins: [],
    flags:
      /^((:?[\w-]+:)*(test|check|[a-z]+Test|lint|detekt|ktlintCheck|spotlessCheck)|--(info|stacktrace|offline|no-daemon|rerun-tasks|continue|console=plain)|-[qi])$/,
    values: ["--tests"],
    words: "none",
    form: { value: /^[\w.*#$ ]+$/ },
    needs: /(test|check|Test|lint|detekt|Check)$/,
  };

  const rubyTest = /(^|\/)(test_\w+|\w+_(test|spec))\.rb$/;

  /** An interpreter that reads a file, and says whether it could run it. */
  const readsSyntax = (option: RegExp): TestRunner => ({ begins: [option], flags: none, values: [] });

  /**
   * Programs that run tests of the project, with the options that only pick tests or say how to print. Options that name a
   * file to load, a program to run or a place to write to are in none of these lists.
   */
  const testRunners: Readonly<Record<string, readonly TestRunner[]>> = {
    npm: scripts,
    pnpm: shortScripts,
    yarn: shortScripts,
    bun: [
      {
        begins: [/^test$/],
        flags: /^(--(bail|only|todo)|--bail=\d+)$/,
        values: ["-t", "--test-name-pattern", "--timeout"],
      },
      ...scripts.slice(1),
    ],
    node: [
      {
        begins: [/^--test$/],
        flags: /^--(test-(only|reporter=(spec|tap|dot))|experimental-strip-types|no-warnings)$/,
        values: ["--test-name-pattern", "--test-timeout", "--test-concurrency"],
      },
      readsSyntax(/^(--check|-c)$/),
    ],
    php: [readsSyntax(/^-l$/)],
    ruby: [
      readsSyntax(/^-c$/),
      {
        begins: [],
        flags: /^(-w|-I(lib|test|spec|\.)(:(lib|test|spec))*)$/,
        values: ["-n", "--name"],
        form: { word: rubyTest },
        needs: rubyTest,
      },
    ],
    bash: [readsSyntax(/^-n$/)],
    sh: [readsSyntax(/^-n$/)],
    tsx: [{ begins: [/^--test$/], flags: none, values: ["--test-name-pattern"] }],
    deno: [
      { begins: [/^test$/], flags: /^(-A|--(no-prompt|fail-fast|allow-[a-z]+|no-check|quiet))$/, values: ["--filter"] },
    ],
    jest: [jest],
    vitest: [vitest],
    mocha: [mocha],
    ava: [
      { begins: [], flags: /^(-v|--(verbose|tap|serial|fail-fast))$/, values: ["-m", "--match", "-T", "--timeout"] },
    ],
    jasmine: [{ begins: [], flags: /^--(fail-fast|no-color)$/, values: ["--filter"] }],
    playwright: [playwright],
    pytest: [pytest],
    "py.test": [pytest],
    go: [
      {
        begins: [/^test$/],
        flags: /^-(v|race|short|failfast|cover|json|benchmem|count=\d+)$/,
        values: ["-run", "-timeout", "-count", "-bench", "-parallel", "-tags"],
        // Any other word is a package of whomever.
        form: goPackages,
      },
    ],
    gotestsum: [{ begins: [], flags: /^(--|-v|-race|-short|--format=[\w-]+)$/, values: ["-run"], form: goPackages }],
    cargo: [
      {
        begins: [/^(test|nextest)$/],
        flags:
          /^(-q|--|run|--(lib|bins|doc|workspace|all|all-features|all-targets|release|quiet|nocapture|exact|ignored|include-ignored|offline|locked|frozen|no-fail-fast|no-default-features))$/,
        values: ["-p", "--package", "--test", "--test-threads", "--features", "-F", "--bin", "--example", "--exclude"],
        words: "names",
      },
    ],
    rspec: [
      {
        begins: [],
        flags: /^(--(fail-fast|no-color)|--format=(doc|documentation|progress))$/,
        values: ["-e", "--example", "--seed", "--tag"],
      },
    ],
    mix: [{ begins: [/^test$/], flags: /^--(trace|failed|stale)$/, values: ["--only", "--exclude", "--seed"] }],
    phpunit: [{ begins: [], flags: /^--(testdox|colors=\w+|stop-on-failure)$/, values: ["--filter", "--group"] }],
    pest: [{ begins: [], flags: /^--(colors=\w+|bail)$/, values: ["--filter"] }],
    make: [targets],
    just: [targets],
    task: [targets],
    rake: [
      {
        begins: [],
        flags: none,
        values: [],
        // One test by its file, beside the names of tasks.
        form: { word: /^(tests?|spec|check|lint)(:[\w:-]+)?$|^(TEST|SPEC)=(?!\/|.*\.\.)[\w./-]+$/ },
        needs: /^(tests?|spec|check|lint)(:|$)/,
      },
    ],
    turbo: [
      { begins: [], flags: /^(run|--continue)$/, values: ["--filter"], form: { word: onlyLooks }, needs: onlyLooks },
    ],
    nx: [{ begins: [onlyLooks], flags: /^--(skip-nx-cache|verbose)$/, values: [], words: "names" }],
    composer: [
      { begins: [onlyLooks], flags: /^(-n|--no-interaction)$/, values: [], words: "none" },
      { begins: [/^run(-script)?$/, onlyLooks], flags: /^(-n|--no-interaction)$/, values: [], words: "none" },
    ],
    mvn: [mavenWords],
    mvnw: [mavenWords],
    gradle: [gradleWords],
    gradlew: [gradleWords],
    dotnet: [
      {
        begins: [/^test$/],
        flags: /^--(no-build|no-restore|nologo|list-tests)$/,
        values: ["--filter", "-v", "--verbosity", "-c", "--configuration"],
      },
    ],
    rails: [{ begins: [/^(test|spec)$/], flags: /^-[vbf]+$/, values: ["-n"] }],
    swift: [{ begins: [/^test$/], flags: /^--(parallel|quiet)$/, values: ["--filter"], words: "none" }],
    dart: [{ begins: [/^test$/], flags: none, values: ["-n", "--name"] }],
    flutter: [{ begins: [/^test$/], flags: none, values: ["--name"] }],
    sbt: [{ begins: [], flags: /^(test|testOnly [\w.* -]+|[\w-]+\/test)$/, values: [], words: "none", needs: /test/ }],
    lein: [{ begins: [/^test$/], flags: none, values: [], words: "names" }],
    stack: [{ begins: [/^test$/], flags: /^--fast$/, values: [], words: "names" }],
    cabal: [{ begins: [/^test$/], flags: none, values: [], words: "names" }],
    zig: [{ begins: [/^build$/, /^test$/], flags: none, values: [], words: "none" }],
    ctest: [
      {
        begins: [],
        flags: /^(-V|-VV|--verbose|--output-on-failure|-j\d*|--rerun-failed)$/,
        values: ["-R", "-E", "--test-dir", "-j", "--timeout"],
        words: "none",
        form: { value: /^(?!\/|.*\.\.)/ },
      },
    ],
    bats: [{ begins: [], flags: /^(-r|-t|--tap|--recursive)$/, values: ["-f", "--filter"] }],
    prove: [{ begins: [], flags: /^-[lrvbs]+$/, values: [] }],
    busted: [{ begins: [], flags: none, values: ["--filter"] }],
    tox: [{ begins: [], flags: /^-[qv]+$/, values: ["-e"], words: "none", form: { value: /^[\w,.-]+$/ } }],
  };

  /** Runners and checkers that an interpreter is given as a module: `python -m pytest`. */
  const moduleRunners: Readonly<Record<string, TestRunner>> = { pytest, unittest };

  /** A script of the project that tests when it is told to. */
  const testScripts: Readonly<Record<string, TestRunner>> = {
    "manage.py": {
      begins: [/^test$/],
      flags: /^(-v|--(keepdb|failfast|parallel|noinput))$/,
      values: ["-k", "-v"],
      words: "names",
    },
    artisan: { begins: [/^test$/], flags: /^--(parallel|stop-on-failure)$/, values: ["--filter"] },
  };
  return { testRunners, moduleRunners, testScripts };
}
