/**
 * Made-up secrets of every sort, and harmless texts that look like them. Secrets are put together when they are asked
 * for, so that no program that looks for leaked keys finds any in this repository.
 */
export interface PlantedSecret {
  readonly sort: string;
  /** The text that must be found nowhere. */
  readonly value: string;
  /** The value as it is met: in a header, a file, an address. */
  readonly text: string;
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const small = "abcdefghijkmnpqrstuvwxyz23456789";
const hex = "0123456789abcdef";

/** The same for the same number, and different for every number. */
function characters(seed: number, length: number, from = letters): string {
  let state = (seed + 1) * 2_654_435_761;
  let made = "";
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + at + 1) >>> 0;
    made += from[state % from.length];
  }
  // Never without a digit and a letter.
  return `${made.slice(0, -2)}${from === hex ? "a7" : from === capitals ? "Q7" : "x7"}`;
}

const bare =
  (prefix: string, length: number, from = letters) =>
  (seed: number): Omit<PlantedSecret, "sort"> => {
    const value = `${prefix}${characters(seed, length, from)}`;
    return { value, text: value };
  };

const within =
  (length: number, around: (value: string) => string, from = letters) =>
  (seed: number): Omit<PlantedSecret, "sort"> => {
    const value = characters(seed, length, from);
    return { value, text: around(value) };
  };

const block = (kind: string) => (seed: number) => {
  const lines = Array.from({ length: 4 }, (_, at) => characters(seed * 10 + at, 64));
  const text = [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`].join("\n");
  return { value: lines[2] ?? "", text };
};

const webToken = (seed: number): Omit<PlantedSecret, "sort"> => {
  const part = (of: object): string => Buffer.from(JSON.stringify(of)).toString("base64url");
  const value = `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: String(seed), iat: 1_700_000_000 })}.${characters(seed, 43)}`;
  return { value, text: value };
};

const sorts: Readonly<Record<string, (seed: number) => Omit<PlantedSecret, "sort">>> = {
  "Anthropic key": bare(`sk-${"ant"}-api03-`, 60),
  "OpenAI key": bare("sk-", 48),
  "OpenAI project key": bare("sk-proj-", 60),
  "Google key": bare("AIza", 35),
  "Google access token": bare("ya29.", 60),
  "AWS key id": bare("AKIA", 16, capitals),
  "AWS temporary key id": bare("ASIA", 16, capitals),
  "AWS secret in a file": within(40, (value) => `aws_secret_access_key = ${value}`),
  "AWS secret as a variable": within(40, (value) => `AWS_SECRET_ACCESS_KEY=${value}`),
  "GitHub token": bare("ghp_", 36),
  "GitHub app token": bare("ghs_", 36),
  "GitHub fine-grained token": bare("github_pat_", 70),
  "GitLab token": bare("glpat-", 20),
  "Slack bot token": bare("xoxb-1234567890-", 24),
  "Slack webhook": bare("https://hooks.slack.com/services/T0001/B0001/", 24),
  "npm token": bare("npm_", 36),
  "npm token in a file": within(36, (value) => `//registry.example.org/:_authToken=${value}`),
  "payment key": bare(`sk_${"live"}_`, 24),
  "model hub token": bare("hf_", 34),
  "web token": webToken,
  "RSA private key": block("RSA PRIVATE KEY"),
  "OpenSSH private key": block("OPENSSH PRIVATE KEY"),
  "private key": block("PRIVATE KEY"),
  "variable with a key": within(24, (value) => `PAYMENTS_API_KEY=${value}`),
  "variable with a token": within(24, (value) => `export DEPLOY_TOKEN="${value}"`),
  "variable with a secret": within(24, (value) => `SESSION_SECRET='${value}'`),
  "variable with a password": within(14, (value) => `DB_PASSWORD=${value}`, small),
  "password in YAML": within(16, (value) => `password: ${value}`, small),
  "key in JSON": within(32, (value) => `{"apiKey": "${value}", "region": "eu"}`),
  "password in an address": within(16, (value) => `postgres://ann:${value}@db.example.org:5432/app`, small),
  "token in an address": within(40, (value) => `git clone https://${value}@git.example.org/team/app.git`, small),
  "token in a query": within(32, (value) => `GET /v1/me?access_token=${value}&page=2`),
  "bearer header": within(40, (value) => `Authorization: Bearer ${value}`),
  "basic header": within(32, (value) => `Authorization: Basic ${value}`),
  "key header": within(32, (value) => `x-api-key: ${value}`),
  "flag of a program": within(24, (value) => `deploy --token ${value} --region eu`),
  "password of curl": within(16, (value) => `curl -u ann:${value} https://example.org`, small),
  "shop token": bare(`shp${"at"}_`, 32, hex),
  "vault token": bare(`hv${"s"}.`, 24),
  "Linear key": bare(`lin_${"api"}_`, 40),
  "Doppler token": bare(`dp.${"pt"}.`, 43),
  "Telegram bot token": bare(`123456789:${"AA"}`, 33),
  "Telegram bot token in an address": (seed) => {
    const value = `123456789:${"AA"}${characters(seed, 33)}`;
    return { value, text: `https://api.example.org/bot${value}/getMe` };
  },
  "Discord bot token": bare(`${Buffer.from("123456789012345678").toString("base64url")}.Gx1a2b.`, 38),
  "Twilio key": bare(`S${"K"}`, 32, hex),
  "cookie of a session": within(32, (value) => `Cookie: theme=dark; session=${value}; lang=en`),
  "cookie that is set": within(32, (value) => `Set-Cookie: connect.sid=${value}; Path=/; HttpOnly`),
  "password of mysql": within(16, (value) => `mysql -u root -p${value} app`, small),
  "password of mysqldump": within(16, (value) => `mysqldump -h db.example.org -p${value} app`, small),
  "token in colour": within(36, (value) => `\u001b[1;32mgh${"p"}_${value}\u001b[0m`),
  "token behind a sign of an address": within(36, (value) => `next=%2Fa%3Ft%3Dgh${"p"}_${value}`),
  "password of psql": within(16, (value) => `PGPASSWORD=${value} psql -h db.example.org app`, small),
  "variable with a pass": within(16, (value) => `+ export DB_PASS=${value}`, small),
  "variable of fish": within(24, (value) => `set -x API_KEY ${value}`),
  "variable of csh": within(24, (value) => `setenv API_KEY ${value}`),
  "setting of aws": within(40, (value) => `aws configure set aws_secret_access_key ${value}`),
  "password of sshpass": within(16, (value) => `sshpass -p ${value} ssh ann@example.org`, small),
  "password of a registry": within(16, (value) => `docker login -u ann -p ${value} registry.example.org`, small),
  "password of redis": within(16, (value) => `redis-cli -h db -a ${value} ping`, small),
  "password of a directory": within(16, (value) => `ldapsearch -x -D cn=ann -w ${value}`, small),
  "password in a data source": within(16, (value) => `root:${value}@tcp(127.0.0.1:3306)/app`, small),
  "login of npm": within(32, (value) => `_auth=${value}`),
  "login of docker": within(32, (value) => `{"auths":{"r.example.org":{"auth":"${value}"}}}`),
  "signed address": within(64, (value) => `https://b.example.org/k?X-Amz-Date=1&X-Amz-Signature=${value}`, hex),
  "code in an address": within(40, (value) => `http://127.0.0.1:7321/login?code=${value}`),
  "password in XML": within(16, (value) => `<password>${value}</password>`, small),
  "key in XML": within(32, (value) => `<add key="ApiKey" value="${value}"/>`),
  "key of a cluster": within(60, (value) => `    client-key-data: ${value}`),
  "Grafana token": bare(`gl${"sa"}_`, 32),
  "Atlassian token": bare(`ATAT${"T3"}`, 80),
  "Supabase key": bare(`sb_${"secret"}_`, 31),
  "Notion token": bare(`nt${"n"}_`, 46),
  "Databricks token": bare(`da${"pi"}`, 32, hex),
  "Tailscale key": bare(`ts${"key"}-auth-k1A2b3-`, 32),
  "Figma token": bare(`fig${"d"}_`, 40),
  "Sentry token": bare(`sntr${"yu"}_`, 64, hex),
  "CircleCI token": (seed) => {
    const value = `CCI${"PAT"}_${characters(seed, 22)}_${characters(seed, 40, hex)}`;
    return { value, text: value };
  },
  "hash of a password": bare("$2b$12$", 53),
  "line of a netrc file": within(16, (value) => `machine example.org login ann password ${value}`, small),
};

export const secretSorts = Object.keys(sorts);

/** So many secrets, all different, of all sorts in turn. */
export function plantedSecrets(count: number, seed = 0): readonly PlantedSecret[] {
  const makers = Object.entries(sorts);
  return Array.from({ length: count }, (_, at) => {
    const [sort, make] = makers[at % makers.length] ?? ["", bare("", 20)];
    return { sort, ...make(seed + at) };
  });
}

/** Texts that hold no secret, and must stay as they are. */
export const lookAlikes: readonly string[] = [
  "const token = await nextToken(lexer);",
  "function parse(tokens: Token[], key: string): Map<string, number> {",
  "export interface Login { readonly password: string; readonly apiKey: string | undefined }",
  "login(user=user, password=password, token=token)",
  "password: Enter your password",
  'if (key === "ArrowDown") focus(next); else if (key === "Enter") choose();',
  "<li key={item.id}>{item.name}</li>",
  "API_KEY=$API_KEY npm run deploy",
  `export GITHUB_TOKEN=$${"{{ secrets.GITHUB_TOKEN }}"}`,
  "API_KEY=<your key here>",
  "const apiKey = process.env.PAYMENTS_API_KEY;",
  "password = os.environ['DB_PASSWORD']",
  "token = request.headers.get('x-token')",
  'primary_key: "id", foreign_key: "task_id"',
  "the sk-circle and sk-fading-circle-dot classes of the style sheet",
  "branch task-sk-improve-the-lexer-and-the-parser",
  "risk-assessment-of-the-whole-parser-module-0001",
  "commit 3f786850e387550fdab836ed7e6dc881de23001b",
  "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
  "id 01890a5d-ac96-774b-bcce-b302099a8057",
  "npm_config_registry npm_package_name npm_lifecycle_event",
  "https://example.org:8080/a/b?page=2#top and ann@example.org",
  "git@example.org:team/app.git",
  "docker run -u 1000:1000 alpine",
  'if (text.startsWith("-----BEGIN PRIVATE KEY-----")) throw new Error("a key");',
  "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
  "input_tokens: 1200, output_tokens: 340, max_tokens: 4096",
  "MAX_TOKENS=4096 TOKEN_LIMIT=100 KEYBOARD=us",
  "USE_TOKEN=true",
  "verdict pass: overstory/b1/task-12, and pass:overstory/integration/run-0d0767br1qev",
  "PASS src/token.test.ts (12 tests) in 1.2s",
  "expected TOKEN, got KEYWORD at line 3:4",
  "monkey: 12, donkey=13, turkey: 14",
  "the bearer of this letter; Bearer authentication",
  "eyJ is how such a token begins; a.b.c has three parts",
  "secret: see docs/secrets.md",
  "Bearer $TOKEN",
  "mysql -u root -p app; mysql -u root -p$PASSWORD; mysql -P 3306 -proot",
  "Cookie: theme=dark; session=<id>; lang=en",
  "cookie: { name: session, maxAge: 3600 }",
  "SKIPPED 12 tests; SKU-3f786850e387550fdab836ed7e6dc881",
  "the object hvs.readConfigurationFromDisk and dp.pt.x",
  "at 12345678:AAPL and NotificationServiceProviders.client.NotificationServiceProvidersFactory",
  "lin_api_key shpat_token",
  "the key-value-store, the sk_buff, sl.Component and a secret_manager_rotation_configuration",
  "PASS=3 FAIL=0 bypass: off, two passes; compass: north",
  "--- PASS: TestHTTP2Server (0.01s)",
  "    --- PASS: TestLogin2/case_1 (0.00s)",
  "PASS: gcc.dg/20001012-1.c (test for excess errors)",
  "PASS: tests/test_foo1.py",
  "\u001b[32mPASS\u001b[0m: test_login2 and \u001b[1;32mPASS: test_login2",
  "docker login -u ann -p $PASSWORD; ldapsearch -x -w; redis-cli -a; zip -P; pass:$PASS",
  "set -e; set -x; set API_KEY in your shell; config set project.name sample2",
  "GET /list?code=200&sig=none and ?signature=optional",
  '<token>identifier</token> <add key="Color" value="blue42"/>',
  "pat-matching and sdk-version-2; figd_ sbp_ ntn_ napi_version 8",
  `fetch(url, { headers: { Authorization: "Bearer $${"{token}"}" } })`,
];
