//! What there is to ask for: a fixed table. No name is ever a path of the file system.

use fencewright::report::{RUN_SCRIPT, RUN_STYLE};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::{self, Refused};
use crate::http::{Method, Request, Response, Status};
use crate::server::Shared;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const JSON: &str = "application/json";

/// The page: its parts and what they are. The style and the script of runs are the library's.
const PAGE: &[(&str, &str, &str)] = &[
    ("", HTML, include_str!("../page/index.html")),
    ("style.css", CSS, include_str!("../page/style.css")),
    ("explore.js", JAVASCRIPT, include_str!("../page/explore.js")),
    ("walk.js", JAVASCRIPT, include_str!("../page/walk.js")),
    ("run.css", CSS, RUN_STYLE),
    ("run.js", JAVASCRIPT, RUN_SCRIPT),
];

/// A question that comes as JSON and is answered as JSON.
type Ask = fn(&Shared, &Request) -> Response;

const API: &[(&str, Ask)] = &[
    ("read", |shared, request| ask(request, |it| api::read(shared, &it))),
    ("check", |shared, request| ask(request, |it| api::check(shared, &it))),
    ("fence", |shared, request| ask(request, |it| api::fence(shared, &it))),
    ("job", |shared, request| ask(request, |it| api::job(shared, &it))),
    ("cancel", |shared, request| ask(request, |it| api::cancel(shared, &it))),
    ("repair", |shared, request| ask(request, |it| api::repair(shared, &it))),
    ("walk", |shared, request| ask(request, |it| api::walk(shared, &it))),
];

/// Answers a request of our own page.
pub(crate) fn respond(shared: &Shared, name: &str, request: &Request) -> Response {
    let part = PAGE.iter().find(|part| part.0 == name);
    let question = API.iter().find(|question| question.0 == name);
    match (request.method, part, question) {
        (Method::Get, Some((_, content_type, text)), _) => {
            Response { status: Status::Ok, content_type, body: text.as_bytes().to_vec() }
        }
        (Method::Get, None, None) if name == "session" => json(Status::Ok, &api::session(&shared.settings)),
        (Method::Post, _, Some((_, ask))) => ask(shared, request),
        (Method::Get, None, Some(_)) | (Method::Post, Some(_), None) => {
            Response::text(Status::MethodNotAllowed, "not in this way")
        }
        (Method::Get | Method::Post, None, None) => Response::text(Status::NotFound, "there is nothing of this name"),
    }
}

fn ask<Q: DeserializeOwned, A: Serialize>(request: &Request, answer: impl FnOnce(Q) -> Result<A, Refused>) -> Response {
    if !request.is_json {
        return Response::text(Status::WrongType, "send `application/json`");
    }
    match serde_json::from_slice(&request.body) {
        Ok(question) => match answer(question) {
            Ok(answer) => json(Status::Ok, &answer),
            Err(refused) => json(refused.status, &refused.said),
        },
        Err(error) => json(Status::BadRequest, &api::Said::of(format!("this is not the JSON expected: {error}"))),
    }
}

fn json(status: Status, value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).expect("the types hold nothing but JSON");
    Response { status, content_type: JSON, body }
}
