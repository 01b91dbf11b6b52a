import { type FormEvent, useCallback, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.js";
import { send } from "./send.js";
import { Studio } from "./studio.js";

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

function Dashboard({ usage, onChange }: { usage: Usage; onChange: () => void }) {
  const [models, setModels] = useState<Model[]>([]);
  useEffect(
    () => void send<{ data: Model[] }>("GET", "/ai/v1/models?type=chat").then(({ data }) => setModels(data)),
    [],
  );
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
        <p>
          <a href="/account">API keys, usage and models</a>
        </p>
        <button type="button" onClick={() => void send("POST", "/api/auth/sign-out", {}).then(onChange)}>
          Sign out
        </button>
      </section>
      <Chat models={models.map(({ id }) => id)} onAnswer={onChange} />
      <Studio onDone={onChange} />
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
