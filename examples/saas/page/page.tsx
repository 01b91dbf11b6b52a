import { type FormEvent, useCallback, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.js";
import { send } from "./send.js";

interface Key {
  id: string;
  name?: string;
  hint: string;
}

interface Window {
  limit: number | null;
  remaining: number | null;
}

interface Usage {
  plan: string;
  windows: Record<string, Window>;
}

interface Model {
  id: string;
}

const formOf = (event: FormEvent<HTMLFormElement>) => {
  event.preventDefault();
  return Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
};

function SignIn({ onDone }: { onDone: () => void }) {
  const [error, setError] = useState("");
  const enter = (path: string) => async (event: FormEvent<HTMLFormElement>) => {
    const { email = "", password = "" } = formOf(event);
    send("POST", `/api/auth/${path}`, { email, password, name: email }).then(onDone, (failure) =>
      setError(String(failure.message)),
    );
  };
  const fields = (
    <>
      <input name="email" type="email" placeholder="Email" required />
      <input name="password" type="password" placeholder="Password, at least 8 characters" required minLength={8} />
    </>
  );
  return (
    <>
      <form onSubmit={enter("sign-in/email")}>
        <h2>Sign in</h2>
        {fields} <button type="submit">Sign in</button>
      </form>
      <form onSubmit={enter("sign-up/email")}>
        <h2>Sign up</h2>
        {fields} <button type="submit">Sign up</button>
      </form>
      <p role="alert">{error}</p>
    </>
  );
}

function Keys() {
  const [keys, setKeys] = useState<Key[]>([]);
  const [secret, setSecret] = useState("");
  const load = useCallback(() => void send<Key[]>("GET", "/api/keys").then(setKeys), []);
  useEffect(load, [load]);
  const create = async (event: FormEvent<HTMLFormElement>) => {
    const made = await send<{ secret: string }>("POST", "/api/keys", formOf(event));
    setSecret(made.secret);
    load();
  };
  const revoke = (id: string) => void send("DELETE", `/api/keys/${id}`).then(load);
  return (
    <section>
      <h2>API keys</h2>
      <ul>
        {keys.map(({ id, name, hint }) => (
          <li key={id}>
            {name} <code>{hint}</code>{" "}
            <button type="button" onClick={() => revoke(id)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={create}>
        <input name="name" placeholder="Name of a new key" required /> <button type="submit">Create</button>
      </form>
      {secret && (
        <p>
          Copy it now, it is not shown again: <code>{secret}</code>
        </p>
      )}
    </section>
  );
}

function Dashboard({ usage, onChange }: { usage: Usage; onChange: () => void }) {
  const [models, setModels] = useState<Model[]>([]);
  useEffect(() => void send<{ data: Model[] }>("GET", "/ai/v1/models").then(({ data }) => setModels(data)), []);
  return (
    <>
      <section>
        <h2>Plan {usage.plan}</h2>
        <ul>
          {Object.entries(usage.windows).map(([name, { limit, remaining }]) => (
            <li key={name}>
              {name}: {remaining?.toFixed(2)} of {limit} credits left
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => void send("POST", "/api/auth/sign-out", {}).then(onChange)}>
          Sign out
        </button>
      </section>
      <Chat models={models.map(({ id }) => id)} onAnswer={onChange} />
      <Keys />
    </>
  );
}

function Page() {
  const [usage, setUsage] = useState<Usage | null>();
  // The page itself calls the gateway, by the session alone.
  const load = useCallback(
    () =>
      void send<Usage>("GET", "/ai/v1/usage").then(setUsage, () => {
        setUsage(null);
      }),
    [],
  );
  useEffect(load, [load]);
  return (
    <>
      <h1>Acme Notes</h1>
      {usage === null && <SignIn onDone={load} />}
      {usage && <Dashboard usage={usage} onChange={load} />}
    </>
  );
}

const root = document.getElementById("root");
if (root) createRoot(root).render(<Page />);
