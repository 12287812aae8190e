//! A module's parameters by name, as plain numbers, for saving, loading and comparing.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use std::collections::BTreeMap;

/// Shape and values of each parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(pub BTreeMap<String, (Vec<usize>, Vec<f32>)>);

impl Parameters {
    /// Reads the parameters of a module.
    pub fn of(module: &impl Module) -> Self {
        let mut visitor = Collect::default();
        module.visit(&mut visitor);
        visitor.found
    }

    /// The module with these parameters. The error names a parameter that is missing or has the
    /// wrong shape.
    pub fn apply<M: Module>(&self, module: M) -> Result<M, String> {
        let mut mapper = Apply {
            path: ModulePath::default(),
            parameters: self,
            problem: None,
        };
        let module = module.map(&mut mapper);
        match mapper.problem {
            None => Ok(module),
            Some(problem) => Err(problem),
        }
    }

    /// Of names and values.
    pub(crate) fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for (name, (_, values)) in &self.0 {
            hasher.update(name.as_bytes());
            hasher.update(bytemuck::cast_slice(values));
        }
        hasher.finalize()
    }

    /// The name of a parameter with a value that is not finite.
    pub fn not_finite(&self) -> Option<&str> {
        self.0
            .iter()
            .find(|(_, (_, values))| values.iter().any(|value| !value.is_finite()))
            .map(|(name, _)| name.as_str())
    }
}

/// The path of a visitor in a module.
///
/// The kind of a network is not part of a parameter's name, so that models saved when there was
/// only one kind keep their names.
#[derive(Debug, Default)]
pub struct ModulePath(Vec<String>);

impl ModulePath {
    /// For `ModuleVisitor::enter_module`, or the same of a mapper.
    pub fn enter(&mut self, name: &str, container: &str) {
        if !Self::is_kind(container) {
            self.0.push(name.into());
        }
    }

    /// For `exit_module`.
    pub fn exit(&mut self, container: &str) {
        if !Self::is_kind(container) {
            self.0.pop();
        }
    }

    /// The name of the parameter that is visited now.
    pub fn name(&self) -> String {
        self.0.join(".")
    }

    fn is_kind(container: &str) -> bool {
        matches!(container, "Enum:Encoder" | "Enum:Decoder")
    }
}

#[derive(Default)]
struct Collect {
    path: ModulePath,
    found: Parameters,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let values = tensor
            .into_data()
            .try_into_vec()
            .expect("models compute in f32");
        self.found.0.insert(self.path.name(), (shape, values));
    }
}

struct Apply<'a> {
    path: ModulePath,
    parameters: &'a Parameters,
    problem: Option<String>,
}

impl ModuleMapper for Apply<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.name();
        let wanted = param.val().dims();
        match self.parameters.0.get(&name) {
            Some((shape, values)) if *shape == wanted => {
                let data = TensorData::new(values.clone(), wanted);
                param.map(|old| {
                    let new = Tensor::from_data(data, &old.device());
                    new.set_require_grad(old.is_require_grad())
                })
            }
            Some((shape, _)) => {
                let problem = format!("parameter `{name}` has shape {shape:?}, not {wanted:?}");
                self.problem.get_or_insert(problem);
                param
            }
            None => {
                self.problem
                    .get_or_insert(format!("parameter `{name}` is missing"));
                param
            }
        }
    }
}
