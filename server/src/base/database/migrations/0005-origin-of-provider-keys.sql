-- URL that the stored key was given for: the key is sent to no other origin, whatever base_url says later. A URL and not its
-- origin, because SQL cannot normalise one; the server compares origins.
alter table providers add column api_key_url text;
update providers set api_key_url = coalesce(base_url, case kind
  when 'openai' then 'https://api.openai.com/v1'
  when 'openai-chat' then 'https://api.openai.com/v1'
  when 'anthropic' then 'https://api.anthropic.com/v1'
  when 'google' then 'https://generativelanguage.googleapis.com/v1beta'
end) where api_key_sealed is not null;
